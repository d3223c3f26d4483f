#include "ir/optypes/verified_ops.h"
#include "ir/core/operands.h"

enum { MAX_SEEN_TYPES = sizeof((struct op_seen *)NULL)->types / sizeof(uint32_t) };
_Static_assert((OPS_SEEN & (OPS_SEEN - 1)) == 0, "a power of two");

static bool values_equal(const struct module *module, const struct attr_value *a,
                         const struct attr_value *b)
{
    if (a->kind != b->kind || a->kind == ATTR_DICT)
        return false;
    if (a->kind != ATTR_LIST)
        return a->i == b->i;
    for (uint32_t i = 0; a->count == b->count && i < a->count; i++)
        if (!values_equal(module, &module->attr_values.at[a->first + i],
                          &module->attr_values.at[b->first + i]))
            return false;
    return a->count == b->count;
}

/* Attributes of one text are often one range. */
static bool attrs_equal(const struct module *module, struct range a, struct range b)
{
    for (uint32_t i = 0; a.count == b.count && a.first != b.first && i < a.count; i++) {
        const struct attr *left = &module->attrs.at[a.first + i];
        const struct attr *right = &module->attrs.at[b.first + i];
        if (left->key != right->key || !values_equal(module, &left->value, &right->value))
            return false;
    }
    return a.count == b.count;
}

bool op_is_seen(const struct module *module, const struct graph *graph, const struct op_seen *seen,
                const struct op *op)
{
    const struct value *values = graph->values.at, *results = values + op->results.first;
    const uint32_t *operands = op_operands(graph, op), *type = seen->types;
    if (seen->type != op->type || seen->kernel != op->kernel ||
        seen->n_operands != op->operands.count || seen->n_results != op->results.count)
        return false;
    for (uint32_t i = 0; i < op->operands.count; i++)
        if (*type++ != values[operands[i]].type)
            return false;
    for (uint32_t i = 0; i < op->results.count; i++)
        if (*type++ != results[i].type)
            return false;
    return attrs_equal(module, seen->attrs, op->attrs);
}

void op_set_seen(const struct graph *graph, const struct op *op, struct op_seen *seen)
{
    *seen = (struct op_seen){.type = op->type,
                             .kernel = op->kernel,
                             .n_operands = op->operands.count,
                             .n_results = op->results.count,
                             .attrs = op->attrs};
    for (uint32_t i = 0; i < op->operands.count + op->results.count; i++)
        seen->types[i] = graph->values.at[op_tensor(graph, op, i)].type;
}

struct op_seen *seen_ops_place(struct seen_ops *seen, const struct graph *graph,
                               const struct op *op)
{
    const struct value *values = graph->values.at;
    if (op->results.count == 0 || op->operands.count + op->results.count > MAX_SEEN_TYPES ||
        op_has_forms(graph, op))
        return NULL;
    uint32_t hash = op->type * 31 + values[op->results.first].type;
    if (op->operands.count)
        hash = hash * 31 + values[op_operands(graph, op)[0]].type;
    return &seen->at[(hash ^ hash >> 8) & (OPS_SEEN - 1)];
}
