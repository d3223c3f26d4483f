/* The verifier's part for memory that is shared: what `inplace` and `alias` name, and variables. */
#include "ir/memories.h"
#include "ir/operands.h"
#include "ir/syntax/spelling.h"
#include "ir/verify/graph_verifier.h"

/* Whether values of these types can be one memory: equal in dtype and, where it is known, in the
 * number of elements. */
static bool types_share(const struct module *module, uint32_t a, uint32_t b)
{
    uint64_t of_a, of_b;
    if (a == NONE || b == NONE || a == b)
        return true;
    enum dtype dtype_a = module->types.at[a].dtype, dtype_b = module->types.at[b].dtype;
    if (dtype_a != dtype_b && dtype_a != DTYPE_UNKNOWN && dtype_b != DTYPE_UNKNOWN)
        return false;
    return !type_elements(module, a, &of_a) || !type_elements(module, b, &of_b) || of_a == of_b;
}

/* ------------------------------------------------------------------------------- ops ---- */

static void unknown_place(struct graph_verifier *gv, const struct op *op, const struct attr *attr,
                          uint32_t n)
{
    const struct attr_value *place = &gv->module->attr_values.at[attr->value.first + n];
    struct span span = locate_element(gv->module, attr, n);
    if (place->kind == ATTR_INT)
        diag_at(gv->diags, DIAG_number_range, span,
                "'%.*s' names operand %lld of an op that has %u", NAME(gv->module, attr->key),
                (long long)place->i, op_n_places(gv->graph, op));
    else if (diag_at(gv->diags, DIAG_operand_label, span,
                     "no operand of the op has the label '%.*s'", NAME(gv->module, place->id)))
        diag_help(gv->diags, "operands without labels are named by their numbers, from 0");
}

/* An element that is a number or a word names an operand that is there. */
static bool verify_place(struct graph_verifier *gv, const struct op *op, const struct attr *attr,
                         uint32_t n)
{
    const struct attr_value *place = &gv->module->attr_values.at[attr->value.first + n];
    bool none = attr->key == W_alias && place->kind == ATTR_WORD && place->id == W_none;
    if (none || (place->kind != ATTR_INT && place->kind != ATTR_WORD))
        return true;
    uint32_t named = op_named_place(gv->graph, op, place);
    if (named == NONE) {
        unknown_place(gv, op, attr, n);
        return false;
    }
    enum operand_kind kind = op_operand(gv->graph, op, named).kind;
    bool wrong = kind == OPERAND_NONE || (kind == OPERAND_LIST && attr->key == W_alias);
    if (wrong)
        diag_at(gv->diags, DIAG_operand_label, locate_element(gv->module, attr, n),
                "'%.*s' names an operand that is %s", NAME(gv->module, attr->key),
                kind == OPERAND_NONE ? "'none'" : "a list");
    return !wrong;
}

static void verify_alias_type(struct graph_verifier *gv, const struct op *op,
                              const struct attr *alias, uint32_t n)
{
    const struct module *module = gv->module;
    uint32_t operand = op_place(gv->graph, op, &module->attr_values.at[alias->value.first + n]);
    if (operand == NONE)
        return;
    uint32_t own = gv->graph->values.at[op->results.first + n].type;
    uint32_t other = gv->graph->values.at[operand].type;
    if (own == module->token || other == module->token) {
        diag_at(gv->diags, DIAG_alias, locate_element(module, alias, n),
                "a token has no memory that could be another's");
        return;
    }
    if (types_share(module, own, other))
        return;
    if (diag_at(gv->diags, DIAG_alias, locate_op(module, op, OP_RESULT_TYPE, n),
                "this is %s, but the memory of '%%%.*s' is %s",
                type_text(module, own, &gv->diags->arena),
                NAME(module, gv->graph->values.at[operand].name),
                type_text(module, other, &gv->diags->arena)))
        diag_note(gv->diags, locate_element(module, alias, n),
                  "this says that they are one memory: equal dtypes, as many elements");
}

static void verify_alias(struct graph_verifier *gv, const struct op *op, const struct attr *alias)
{
    uint32_t count = alias->value.count, results = op->results.count;
    if (count != results) {
        if (diag_at(gv->diags, DIAG_alias, locate_token(gv->module, alias->loc),
                    "'alias' has %u element%s, but the op has %u result%s", count,
                    count == 1 ? "" : "s", results, results == 1 ? "" : "s"))
            diag_help(gv->diags, "for each result write the operand whose memory it is, or 'none'");
        return;
    }
    for (uint32_t n = 0; n < count; n++)
        if (verify_place(gv, op, alias, n))
            verify_alias_type(gv, op, alias, n);
}

void verify_places(struct graph_verifier *gv, const struct op *op)
{
    for (uint32_t i = 0; i < op->attrs.count; i++) {
        const struct attr *attr = &gv->module->attrs.at[op->attrs.first + i];
        gv->verifier->shared_names |= attr->key == W_shared_name;
        if ((attr->key != W_inplace && attr->key != W_alias) || attr->value.kind != ATTR_LIST)
            continue;
        if (attr->key == W_alias)
            verify_alias(gv, op, attr);
        else
            for (uint32_t n = 0; n < attr->value.count; n++)
                verify_place(gv, op, attr, n);
    }
}

/* ------------------------------------------------------------------------- variables ---- */

/* The first variable of a name: its op, by graph. */
struct variable {
    uint32_t graph, op;
};

static uint32_t result_type(const struct graph *graph, const struct op *op)
{
    return op->results.count ? graph->values.at[op->results.first].type : NONE;
}

/* The container of a variable, "" for the default one. */
static struct intern_name container_name(const struct module *module, const struct op *op)
{
    static const char key[] = "container";
    static const struct intern_name none = {"", 0, 0};
    uint32_t id = intern_find(&module->names, key, sizeof key - 1);
    uint32_t name = id == NONE ? NONE : attr_string(module, op->attrs, id);
    return name == NONE ? none : module->names.names[name];
}

/* The source systems name a variable by its container and its `shared_name`, skir by the latter
 * alone. */
static void verify_container(struct verifier *verifier, const struct op *op, const struct op *other)
{
    const struct module *module = verifier->module;
    struct intern_name own = container_name(module, op), first = container_name(module, other);
    if (own.size == first.size && memcmp(own.text, first.text, own.size) == 0)
        return;
    if (!diag_at(verifier->diags, DIAG_alias, locate_op(module, op, OP_TYPE_NAME, 0),
                 "variable \"%.*s\" is in container \"%.*s\" here, but in \"%.*s\" before",
                 NAME(module, op_shared_name(module, op)), (int)own.size, own.text, (int)first.size,
                 first.text))
        return;
    diag_note(verifier->diags, locate_op(module, other, OP_TYPE_NAME, 0), "it is here");
    diag_help(verifier->diags, "'shared_name' alone names the memory: give one of the two another "
                               "'shared_name', or both one container");
}

static void verify_variable(struct verifier *verifier, const struct graph *graph,
                            const struct op *op, const struct variable *first)
{
    const struct module *module = verifier->module;
    const struct graph *first_graph = &module->graphs.at[first->graph];
    const struct op *other = &first_graph->ops.at[first->op];
    uint32_t type = result_type(graph, op), other_type = result_type(first_graph, other);
    verify_container(verifier, op, other);
    if (types_share(module, type, other_type))
        return;
    if (diag_at(verifier->diags, DIAG_alias, locate_op(module, op, OP_RESULT_TYPE, 0),
                "this is %s, but variable \"%.*s\" is %s",
                type_text(module, type, &verifier->diags->arena),
                NAME(module, op_shared_name(module, op)),
                type_text(module, other_type, &verifier->diags->arena)))
        diag_note(verifier->diags, locate_op(module, other, OP_RESULT_TYPE, 0), "it is here");
}

void verify_variables(struct verifier *verifier)
{
    const struct module *module = verifier->module;
    VEC(struct variable) variables = {NULL, 0, 0};
    struct id_map of_name = {NULL, 0, 0};
    for (uint32_t g = 0; g < module->graphs.count && verifier->shared_names; g++) {
        const struct graph *graph = &module->graphs.at[g];
        for (uint32_t i = 0; i < graph->ops.count; i++) {
            const struct op *op = &graph->ops.at[i];
            uint32_t name = op->attrs.count ? op_shared_name(module, op) : NONE;
            if (name == NONE)
                continue;
            uint32_t *first = id_map_at(&of_name, name);
            if (*first != NONE) {
                verify_variable(verifier, graph, op, &variables.at[*first]);
                continue;
            }
            *first = variables.count;
            vec_push(&variables, ((struct variable){g, i}));
        }
    }
    id_map_free(&of_name);
    vec_free(&variables);
}

/* ------------------------------------------------------------------------- returns ---- */

/* Per value that stands for a memory: the last op in the text that writes it, or NONE; and per op
 * its place in the text. */
struct writers {
    struct memories memories;
    struct id_map last, position;
};

static void find_writers(struct writers *writers, const struct module *module,
                         const struct graph *graph)
{
    memories_init(&writers->memories, module, graph);
    for (uint32_t i = 0; i < graph->body.count; i++) {
        if (item_kind(graph->body.at[i]) != ITEM_OP)
            continue;
        uint32_t id = item_id(graph->body.at[i]);
        struct op_write write = {0};
        id_map_set(&writers->position, id, i);
        while (op_next_write(module, graph, &graph->ops.at[id], &write))
            id_map_set(&writers->last, memory_of(&writers->memories, write.operand), id);
    }
}

static void check_returned(const struct writers *writers, const struct module *module,
                           const struct graph *graph, uint32_t n, struct diags *diags)
{
    const struct value *value = &graph->values.at[graph->returns.at[n]];
    uint32_t writer =
        id_map_find(&writers->last, memory_of(&writers->memories, graph->returns.at[n]));
    if (writer == NONE || value->def >= graph->ops.count ||
        id_map_get(&writers->position, writer) <= id_map_get(&writers->position, value->def))
        return;
    if (diag_at(diags, DIAG_return_overwritten, locate_return(module, graph, n),
                "the memory of '%%%.*s' is written behind its definition, and read when all ops "
                "are complete",
                NAME(module, value->name)))
        diag_note(diags, locate_op(module, &graph->ops.at[writer], OP_TYPE_NAME, 0),
                  "the last to write it is this op");
}

void verify_returned(const struct module *module, const struct graph *graph, struct diags *diags)
{
    struct writers writers = {.memories = {NULL}};
    find_writers(&writers, module, graph);
    for (uint32_t i = 0; i < graph->returns.count; i++)
        check_returned(&writers, module, graph, i, diags);
    memories_free(&writers.memories);
    id_map_free(&writers.last);
    id_map_free(&writers.position);
}
