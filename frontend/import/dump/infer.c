#include "frontend/import/dump/maker.h"

#include "ir/analysis/op_infer.h"

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
    struct op_inference inference;
    if (!type || !has_open_result(module, graph, op))
        return;
    op_infer(&inference, module, graph, op, type, written_in(all, graph), &all->scratch);
    arena_clear(&all->scratch);
}

void dump_inference_free(struct dump_inference *all)
{
    vec_free(&all->written);
    arena_free(&all->scratch);
}
