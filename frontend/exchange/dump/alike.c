#include "frontend/exchange/dump/alike.h"

static uint32_t operand(const struct graph *graph, const struct op *op, uint32_t i)
{
    return graph->refs.at[op->operands.first + i];
}

/* Whether the same operands are the same value. */
static bool same_values(const struct graph *graph, const struct op *a, const struct op *b)
{
    for (uint32_t i = 0; i < a->operands.count; i++)
        for (uint32_t n = 0; n < i; n++)
            if ((operand(graph, a, i) == operand(graph, a, n)) !=
                (operand(graph, b, i) == operand(graph, b, n)))
                return false;
    return true;
}

/* The types of operands. */
static bool same_types(const struct graph *graph, const struct op *a, const struct op *b)
{
    for (uint32_t i = 0; i < a->operands.count; i++)
        if (graph->values.at[operand(graph, a, i)].type !=
            graph->values.at[operand(graph, b, i)].type)
            return false;
    return true;
}

static bool same_attrs(const struct module *module, const struct op *a, const struct op *b)
{
    for (uint32_t i = 0; i < a->attrs.count; i++) {
        const struct attr *of_a = &module->attrs.at[a->attrs.first + i];
        const struct attr *of_b = &module->attrs.at[b->attrs.first + i];
        bool composed = of_a->value.kind == ATTR_LIST || of_a->value.kind == ATTR_DICT;
        if (composed || of_a->key != of_b->key || of_a->value.kind != of_b->value.kind ||
            of_a->value.i != of_b->value.i)
            return false;
    }
    return true;
}

bool dump_ops_alike(const struct module *module, const struct graph *graph, const struct op *a,
                    const struct op *b)
{
    return a->clauses == 0 && b->clauses == 0 && a->operands.count == b->operands.count &&
           a->operands.count <= ALIKE_MOST && a->results.count == b->results.count &&
           a->results.count <= ALIKE_MOST && a->attrs.count == b->attrs.count &&
           a->kernel == b->kernel && same_types(graph, a, b) && same_attrs(module, a, b) &&
           same_values(graph, a, b);
}
