#include "frontend/tensor/read_only.h"
#include "ir/calls.h"

static void forget(struct read_only *values, uint32_t value)
{
    values->is[memory_of(&values->storage->memories, value)] = false;
}

/* What the op may write: operands in place, those that it passes on, and its results. */
static void forget_written(struct read_only *values, const struct op *op)
{
    const struct module *module = values->storage->module;
    const struct graph *graph = values->storage->graph;
    struct op_write write = {0};
    while (op_next_write(module, graph, op, &write))
        forget(values, write.operand);
    for (uint32_t i = 0; op_call_kind(op) != CALL_NONE && i < op->operands.count; i++)
        forget(values, op_operands(graph, op)[i]);
    if (op_is_source(module, graph, op) ? op_shared_name(module, op) == NONE
                                        : op_is_passive(module, graph, op))
        return;
    for (uint32_t i = 0; i < op->results.count; i++)
        forget(values, op->results.first + i);
}

void read_only_init(struct read_only *values, const struct storage *storage)
{
    uint32_t count = storage->graph->values.count;
    *values = (struct read_only){.storage = storage,
                                 .is = mem_calloc(count, sizeof *values->is),
                                 .sums = mem_calloc(count, sizeof *values->sums)};
    for (uint32_t i = 0; i < count; i++)
        values->is[i] = storage->guarded[i].at && storage->given[i];
    for (uint32_t i = 0; i < storage->graph->ops.count; i++)
        forget_written(values, &storage->graph->ops.at[i]);
    for (uint32_t i = 0; i < count; i++)
        if (values->is[i])
            values->sums[i] = guarded_sum(&storage->guarded[i]);
}

void read_only_free(struct read_only *values)
{
    mem_free(values->is);
    mem_free(values->sums);
    *values = (struct read_only){.storage = NULL};
}

bool read_only_is_changed(const struct read_only *values, uint32_t id)
{
    const struct guarded *guarded = &values->storage->guarded[id];
    return values->is[id] && values->sums[id] != guarded_sum(guarded);
}
