#include "frontend/commands/run_writers.h"
#include "ir/calls.h"
#include "ir/effects.h"

enum { MANY = 2 };

static void add(uint8_t *counts, uint32_t memory, uint8_t count)
{
    counts[memory] = counts[memory] + count < MANY ? (uint8_t)(counts[memory] + count) : MANY;
}

/* Operands that graphs which the op calls write, at any time. */
static void count_called(const struct storage *storage, const struct op *op,
                         struct effects *effects, uint8_t *counts)
{
    struct op_effects found = {.written = {NULL, 0, 0}};
    effects_of_op(effects, op, &found);
    for (uint32_t i = 0; i < found.written.count; i++)
        add(counts,
            memory_of(&storage->memories, op_operands(storage->graph, op)[found.written.at[i]]),
            MANY);
    op_effects_free(&found);
}

static void count_op(const struct storage *storage, const struct op *op, struct effects *effects,
                     uint8_t *counts)
{
    const struct module *module = storage->module;
    struct op_write write = {0};
    if (op_shared_name(module, op) != NONE) /* other graphs may write there */
        add(counts, memory_of(&storage->memories, op->results.first), MANY);
    if (op_is_passive(module, storage->graph, op))
        return;
    while (op_next_write(module, storage->graph, op, &write))
        add(counts, memory_of(&storage->memories, write.operand), 1);
    for (uint32_t i = 0; i < op->results.count; i++)
        if (op_alias(module, storage->graph, op, i) == NONE)
            add(counts, memory_of(&storage->memories, op->results.first + i), 1);
    if (op_call_kind(op) != CALL_NONE)
        count_called(storage, op, effects, counts);
}

void writers_init(struct writers *writers, const struct module *module,
                  const struct storages *storages)
{
    struct effects *effects = effects_new(module);
    *writers = (struct writers){storages, mem_calloc(storages->count, sizeof *writers->counts)};
    for (uint32_t i = 0; i < storages->count; i++) {
        const struct storage *storage = &storages->at[i];
        if (!storage->graph)
            continue;
        writers->counts[i] = mem_calloc(storage->graph->values.count, 1);
        for (uint32_t op = 0; op < storage->graph->ops.count; op++)
            count_op(storage, &storage->graph->ops.at[op], effects, writers->counts[i]);
    }
    effects_free(effects);
}

void writers_free(struct writers *writers)
{
    for (uint32_t i = 0; writers->counts && i < writers->storages->count; i++)
        mem_free(writers->counts[i]);
    mem_free(writers->counts);
}

/* Parameters of graphs that are called are memory of those who call. */
bool value_is_steady(const struct writers *writers, uint32_t graph, uint32_t value)
{
    const struct storages *storages = writers->storages;
    const struct storage *storage = &storages->at[graph];
    uint32_t memory = memory_of(&storage->memories, value);
    return storage->given[memory] && writers->counts[graph][memory] == 0 &&
           (graph == storages->main_graph || memory >= storage->graph->n_params);
}

bool value_stays(const struct writers *writers, uint32_t graph, uint32_t value)
{
    const struct storage *storage = &writers->storages->at[graph];
    uint32_t memory = memory_of(&storage->memories, value);
    return value_is_steady(writers, graph, value) ||
           (graph == writers->storages->main_graph && !storage->given[memory] &&
            writers->counts[graph][memory] < MANY);
}

bool writers_are_several(const struct writers *writers, uint32_t graph, uint32_t value)
{
    const struct storage *storage = &writers->storages->at[graph];
    return writers->counts[graph][memory_of(&storage->memories, value)] >= MANY;
}
