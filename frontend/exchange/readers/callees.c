#include "frontend/exchange/readers/callees.h"

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
