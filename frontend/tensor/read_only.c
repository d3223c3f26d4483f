#include "frontend/tensor/read_only.h"
#include "ir/calls.h"

#include <stdio.h>

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
                                 .sums = mem_calloc(count, sizeof *values->sums),
                                 .writes = mem_calloc(count, sizeof *values->writes)};
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
    mem_free(values->writes);
    *values = (struct read_only){.storage = NULL};
}

bool read_only_is_changed(const struct read_only *values, uint32_t id)
{
    const struct guarded *guarded = &values->storage->guarded[id];
    return values->is[id] && values->sums[id] != guarded_sum(guarded);
}

/* ------------------------------------------------------------------------- protection ---- */

void read_only_protect_again(struct read_only *values, uint32_t id)
{
    if (values->writes[id].call == atomic_load(&values->n_calls) && values->writes[id].call > 0)
        atomic_fetch_sub(&values->n_calls, 1);
    values->writes[id].call = 0;
    atomic_store(&values->writes[id].tries, 0);
    guarded_set_writable(&values->storage->guarded[id], false);
}

void read_only_protect(struct read_only *values)
{
    for (uint32_t i = 0; i < values->storage->graph->values.count; i++)
        if (values->is[i])
            read_only_protect_again(values, i);
}

void read_only_release(struct read_only *values)
{
    for (uint32_t i = 0; i < values->storage->graph->values.count; i++)
        if (values->is[i])
            guarded_set_writable(&values->storage->guarded[i], true);
}

static bool is_on(const struct guarded *guarded, const void *address)
{
    const unsigned char *at = address;
    return guarded->mapped && at >= guarded->begin && at < guarded->end;
}

/* Calls of the first values are kept. */
static void note_call(struct read_only *values, uint32_t id, const char *call)
{
    enum { MOST = sizeof values->calls / sizeof values->calls[0] };
    uint32_t number = *call ? atomic_fetch_add(&values->n_calls, 1) : MOST;
    if (number >= MOST)
        return;
    snprintf(values->calls[number], sizeof values->calls[number], "%s", call);
    values->writes[id].call = number + 1;
}

/* Several threads may come at once; who comes again and again has unmapped it. */
static bool allow(struct read_only *values, uint32_t id, const void *address, const char *call)
{
    enum { MOST_TRIES = 1000 };
    const struct guarded *guarded = &values->storage->guarded[id];
    unsigned tries = atomic_fetch_add(&values->writes[id].tries, 1);
    if (tries == 0) {
        values->writes[id].offset = (const unsigned char *)address - guarded->at;
        note_call(values, id, call);
    }
    return tries < MOST_TRIES && guarded_set_writable(guarded, true);
}

bool read_only_allow(void *context, const void *address, const char *call)
{
    struct read_only *values = context;
    for (uint32_t i = 0; i < values->storage->graph->values.count; i++)
        if (values->is[i] && is_on(&values->storage->guarded[i], address))
            return allow(values, i, address, call);
    return false;
}

/* What is beside it is looked after by others. */
bool read_only_is_written(const struct read_only *values, uint32_t id, int64_t *offset)
{
    if (!values->is[id] || atomic_load(&values->writes[id].tries) == 0)
        return false;
    *offset = values->writes[id].offset;
    return *offset >= 0 && (uint64_t)*offset < values->storage->guarded[id].size;
}

const char *read_only_call(const struct read_only *values, uint32_t id)
{
    uint32_t call = values->writes[id].call;
    return call ? values->calls[call - 1] : "";
}
