#include "frontend/import/dump/maker.h"

#include "ir/analysis/op_infer.h"

/* Whether operands have the same types, and the same ones are the same value. */
static bool same_operands(const struct graph *graph, const struct op *a, const struct op *b)
{
    const uint32_t *x = op_operands(graph, a), *y = op_operands(graph, b);
    for (uint32_t i = 0; i < a->operands.count; i++) {
        if (graph->values.at[x[i]].type != graph->values.at[y[i]].type)
            return false;
        for (uint32_t n = 0; n < i; n++)
            if ((x[i] == x[n]) != (y[i] == y[n]))
                return false;
    }
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
           a->kernel == b->kernel && same_operands(graph, a, b) && same_attrs(module, a, b);
}

static bool has_open_result(const struct module *module, const struct graph *graph,
                            const struct op *op)
{
    for (uint32_t i = 0; i < op->results.count; i++) {
        const struct type *type = &module->types.at[graph->values.at[op->results.first + i].type];
        if (type->dtype == DTYPE_UNKNOWN || type->rank == RANK_UNKNOWN)
            return true;
    }
    return false;
}

/* The op of this type that was asked for last. */
static struct dump_inferred *last_of(struct dump_inference *all, uint32_t type)
{
    uint32_t *index = id_map_at(&all->types, type);
    if (*index == NONE) {
        *index = all->last.count;
        vec_push(&all->last, (struct dump_inferred){.graph = NONE});
    }
    return &all->last.at[*index];
}

/* Gives the results the types of those of an op that was like this one. False where it was not. */
static bool repeat(const struct module *module, struct graph *graph, const struct op *op,
                   const struct dump_inferred *last)
{
    if (last->graph != graph->name || !dump_ops_alike(module, graph, &last->op, op))
        return false;
    struct value *values = graph->values.at + op->results.first;
    for (uint32_t i = 0; i < op->results.count; i++)
        if (values[i].type != last->before[i])
            return false;
    for (uint32_t i = 0; i < op->results.count; i++)
        values[i].type = last->after[i];
    return true;
}

static void copy_types(const struct graph *graph, const struct op *op, uint32_t *types)
{
    for (uint32_t i = 0; i < op->results.count && i < ALIKE_MOST; i++)
        types[i] = graph->values.at[op->results.first + i].type;
}

/* The marks of all values of the graph. */
static const uint8_t *written_in(struct dump_inference *all, const struct graph *graph)
{
    while (all->written.count < graph->values.count)
        vec_push(&all->written, 0);
    return all->written.at;
}

void dump_mark_written(struct dump_inference *all, const struct graph *graph, const struct op *op)
{
    written_in(all, graph);
    for (uint32_t i = 0; i < op->results.count; i++)
        all->written.at[op->results.first + i] = 1;
}

void dump_infer(struct dump_inference *all, struct module *module, struct graph *graph,
                const struct op *op)
{
    const struct op_type *type = op_type_find(module, op->type);
    if (!type || !has_open_result(module, graph, op))
        return;
    struct op_inference inference;
    bool contents = type->n_contents && op_knows_contents(module, graph, op);
    struct dump_inferred *last = last_of(all, op->type);
    if (!contents && repeat(module, graph, op, last))
        return;
    *last = (struct dump_inferred){.graph = contents ? NONE : graph->name, .op = *op};
    copy_types(graph, op, last->before);
    op_infer(&inference, module, graph, op, type, contents ? written_in(all, graph) : NULL,
             &all->scratch);
    arena_clear(&all->scratch);
    copy_types(graph, op, last->after);
}

void dump_inference_free(struct dump_inference *all)
{
    id_map_free(&all->types);
    vec_free(&all->last);
    vec_free(&all->written);
    arena_free(&all->scratch);
}
