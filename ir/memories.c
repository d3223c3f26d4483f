#include "ir/memories.h"

uint32_t op_place(const struct graph *graph, const struct op *op, const struct attr_value *place)
{
    if (place->kind != ATTR_INT || place->i < 0 || place->i >= op->operands.count)
        return NONE;
    return op_operands(graph, op)[place->i];
}

/* The operand of a result by the op's attribute, which may be NULL. */
static uint32_t alias_of(const struct module *module, const struct graph *graph,
                         const struct op *op, const struct attr *alias, uint32_t n)
{
    if (!alias || alias->value.kind != ATTR_LIST || n >= alias->value.count)
        return NONE;
    return op_place(graph, op, &module->attr_values.at[alias->value.first + n]);
}

uint32_t op_alias(const struct module *module, const struct graph *graph, const struct op *op,
                  uint32_t n)
{
    return alias_of(module, graph, op, attr_find(module, op->attrs, W_alias), n);
}

bool op_is_variable(const struct module *module, const struct op *op)
{
    return name_is(module, op->type, "Variable") || name_is(module, op->type, "RefData");
}

uint32_t op_shared_name(const struct module *module, const struct op *op)
{
    uint32_t name = attr_string(module, op->attrs, W_shared_name);
    return name != NONE && op_is_variable(module, op) ? name : NONE;
}

/* -------------------------------------------------------------------- memories of values ---- */

struct walker {
    const struct module *module;
    const struct graph *graph;
    struct memories *memories;
    struct id_map variables; /* by `shared_name`: the first value of that memory */
};

/* Makes the value part of another's memory. */
static void join(struct walker *walker, uint32_t value, uint32_t with)
{
    struct memories *memories = walker->memories;
    uint32_t n_values = walker->graph->values.count;
    if (!memories->of) {
        memories->of = mem_realloc(NULL, n_values, sizeof *memories->of);
        for (uint32_t i = 0; i < n_values; i++)
            memories->of[i] = i;
    }
    memories->of[value] = memories->of[with];
}

static void walk_results(struct walker *walker, const struct op *op, const struct attr *alias)
{
    for (uint32_t n = 0; n < op->results.count; n++) {
        uint32_t operand = alias_of(walker->module, walker->graph, op, alias, n);
        if (operand != NONE)
            join(walker, op->results.first + n, operand);
    }
}

static void walk_variable(struct walker *walker, const struct op *op)
{
    uint32_t name = op_shared_name(walker->module, op);
    if (name == NONE || op->results.count == 0)
        return;
    uint32_t *first = id_map_at(&walker->variables, name);
    if (*first == NONE)
        *first = op->results.first;
    else
        join(walker, op->results.first, *first);
}

void memories_init(struct memories *memories, const struct module *module,
                   const struct graph *graph)
{
    struct walker walker = {.module = module, .graph = graph, .memories = memories};
    memories->of = NULL;
    for (uint32_t i = 0; i < graph->body.count; i++) {
        if (item_kind(graph->body.at[i]) != ITEM_OP)
            continue;
        const struct op *op = &graph->ops.at[item_id(graph->body.at[i])];
        const struct attr *alias = attr_find(module, op->attrs, W_alias);
        if (alias)
            walk_results(&walker, op, alias);
        else if (op->attrs.count)
            walk_variable(&walker, op);
    }
    id_map_free(&walker.variables);
}

void memories_free(struct memories *memories)
{
    mem_free(memories->of);
    memories->of = NULL;
}
