#include "frontend/exchange/readers/callees.h"
#include "ir/calls.h"

static void add_callee(struct dump *dump, struct dump_node *node, uint32_t graph)
{
    struct attr_value value = {.kind = ATTR_SYMBOL, .id = dump->graphs.at[graph].name};
    VEC(struct attr) attrs = {NULL, 0, 0};
    for (uint32_t i = 0; i < node->attrs.count; i++)
        vec_push(&attrs, dump->module->attrs.at[node->attrs.first + i]);
    vec_push(&attrs, (struct attr){W_f, node->loc, value});
    node->attrs = module_add_attrs(dump->module, attrs.at, attrs.count);
    node->dialect = DIALECT_GE;
    vec_free(&attrs);
}

void callees_link(struct dump *dump, const struct id_map *functions)
{
    for (uint32_t g = 0; g < dump->graphs.count && functions->count; g++)
        for (uint32_t i = 0; i < dump->graphs.at[g].nodes.count; i++) {
            struct dump_node *node = &dump->graphs.at[g].nodes.at[i];
            uint32_t callee = id_map_find(functions, node->type);
            if (callee != NONE)
                add_callee(dump, node, callee);
        }
}

static void check_symbol(struct dump *dump, uint32_t loc, struct attr_value *value)
{
    if (value->kind != ATTR_SYMBOL || id_map_find(&dump->graph_names, value->id) != NONE)
        return;
    value->kind = ATTR_STRING;
    dump_drop(dump, loc, "the graph '%.*s', which the dump does not have",
              NAME(dump->module, value->id));
}

static void check_node(struct dump *dump, const struct dump_node *node)
{
    for (uint32_t i = 0; i < node->attrs.count; i++) {
        struct attr_value *value = &dump->module->attrs.at[node->attrs.first + i].value;
        check_symbol(dump, node->loc, value);
        for (uint32_t k = 0; value->kind == ATTR_LIST && k < value->count; k++)
            check_symbol(dump, node->loc, &dump->module->attr_values.at[value->first + k]);
    }
}

void callees_check(struct dump *dump)
{
    for (uint32_t i = 0; i < dump->graphs.count; i++)
        for (uint32_t k = 0; k < dump->graphs.at[i].nodes.count; k++)
            check_node(dump, &dump->graphs.at[i].nodes.at[k]);
}

/* ----------------------------------------------------------------------- parameters ---- */

/* The graph of a value, if it is one, has a caller of the kind. */
static void note_caller(const struct dump *dump, const struct attr_value *value,
                        enum call_kind kind, struct id_map *callers)
{
    uint32_t graph = value->kind == ATTR_SYMBOL ? id_map_find(&dump->graph_names, value->id) : NONE;
    if (graph != NONE && id_map_find(callers, graph) == NONE)
        id_map_set(callers, graph, kind);
}

static void note_callees(const struct dump *dump, const struct dump_node *node,
                         struct id_map *callers)
{
    struct op op = {.type = node->type};
    enum call_kind kind = op_call_kind(&op);
    for (uint32_t i = 0; kind != CALL_NONE && i < node->attrs.count; i++) {
        const struct attr_value *value = &dump->module->attrs.at[node->attrs.first + i].value;
        note_caller(dump, value, kind, callers);
        for (uint32_t k = 0; value->kind == ATTR_LIST && k < value->count; k++)
            note_caller(dump, &dump->module->attr_values.at[value->first + k], kind, callers);
    }
}

/* Operands of the caller that are its own are no parameters; parameters that the caller gives
 * itself come first. */
static void place_param(struct dump *dump, const struct ge_given *given,
                        const struct id_map *callers)
{
    uint32_t kind = id_map_find(callers, given->graph);
    if (kind == NONE)
        return;
    const struct call_info *info = call_info((enum call_kind)kind);
    int64_t place = given->operand - info->lead + info->own;
    if (place >= 0)
        dump->graphs.at[given->graph].nodes.at[given->node].index = place;
}

void ge_place_params(struct dump *dump, const struct ge_given *given, uint32_t count)
{
    struct id_map callers = {NULL, 0, 0};
    for (uint32_t i = 0; count && i < dump->graphs.count; i++)
        for (uint32_t k = 0; k < dump->graphs.at[i].nodes.count; k++)
            note_callees(dump, &dump->graphs.at[i].nodes.at[k], &callers);
    for (uint32_t i = 0; i < count; i++)
        place_param(dump, &given[i], &callers);
    id_map_free(&callers);
}
