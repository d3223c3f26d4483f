#include "frontend/tensor/seal.h"
#include "ir/calls.h"

#include <stdio.h>
#include <stdlib.h>

/* ------------------------------------------------------------------------- memories ---- */

static int by_address(const void *a, const void *b)
{
    const struct sealed *first = a, *second = b;
    return first->guarded->begin < second->guarded->begin ? -1 : 1;
}

static void add_storage(struct seal *seal, uint32_t graph)
{
    const struct storage *storage = &seal->storages->at[graph];
    for (uint32_t i = 0; storage->graph && i < storage->graph->values.count; i++)
        if (storage->guarded[i].mapped)
            seal->at[seal->count++] =
                (struct sealed){.guarded = &storage->guarded[i], .graph = graph, .value = i};
}

void seal_init(struct seal *seal, const struct storages *storages)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < storages->count; i++)
        most += storages->at[i].graph ? storages->at[i].graph->values.count : 0;
    *seal = (struct seal){.storages = storages, .at = mem_calloc(most + 1, sizeof *seal->at)};
    for (uint32_t i = 0; i < storages->count; i++)
        add_storage(seal, i);
    qsort(seal->at, seal->count, sizeof *seal->at, by_address);
    for (uint32_t i = 0; i < seal->count; i++)
        guarded_set_writable(seal->at[i].guarded, false);
}

void seal_free(struct seal *seal)
{
    for (uint32_t i = 0; i < seal->count; i++)
        guarded_set_writable(seal->at[i].guarded, true);
    mem_free(seal->at);
    *seal = (struct seal){.storages = NULL};
}

/* What has pages at the address, or NULL. */
static struct sealed *find(const struct seal *seal, const void *address)
{
    const unsigned char *at = address;
    uint32_t low = 0, high = seal->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (at >= seal->at[middle].guarded->end)
            low = middle + 1;
        else
            high = middle;
    }
    return low < seal->count && at >= seal->at[low].guarded->begin ? &seal->at[low] : NULL;
}

/* ------------------------------------------------------------------------------ ops ---- */

static void set_open(struct seal *seal, const void *memory, bool open)
{
    struct sealed *sealed = memory ? find(seal, memory) : NULL;
    if (!sealed)
        return;
    unsigned before = sealed->open;
    sealed->open += open ? 1 : -1;
    if (before == 0 || sealed->open == 0)
        guarded_set_writable(sealed->guarded, open);
}

/* What it may write, twice where it says so twice. What is passed to graphs their ops may write;
 * it is theirs to say, but the results are the op's. */
static void set_op(struct seal *seal, const struct graph *graph, const struct op *op,
                   void *const *values, bool open)
{
    struct op_write write = {0};
    while (op_next_write(seal->storages->at[seal->storages->main_graph].module, graph, op, &write))
        set_open(seal, values[write.operand], open);
    for (uint32_t i = 0; i < op->results.count; i++)
        set_open(seal, values[op->results.first + i], open);
}

void seal_op_begins(struct seal *seal, const struct graph *graph, const struct op *op,
                    void *const *values)
{
    atomic_store(&seal->tries, 0);
    atomic_store(&seal->writes, 0);
    seal->written = NULL;
    set_op(seal, graph, op, values, true);
}

void seal_op_ended(struct seal *seal, const struct graph *graph, const struct op *op,
                   void *const *values)
{
    set_op(seal, graph, op, values, false);
    for (uint32_t i = 0; atomic_load(&seal->tries) && i < seal->count; i++)
        if (atomic_exchange(&seal->at[i].touched, false) && seal->at[i].open == 0)
            guarded_set_writable(seal->at[i].guarded, false);
}

/* ---------------------------------------------------------------------------- writes ---- */

/* What is beside memory is looked after by others. */
static bool is_inside(const struct guarded *guarded, const void *address)
{
    const unsigned char *at = address;
    return at >= guarded->at && at < guarded->at + guarded->size;
}

/* Several threads may come at once; who comes again and again has protected it itself. */
bool seal_allow(void *context, const void *address, const char *call)
{
    enum { MOST_TRIES = 1000 };
    struct seal *seal = context;
    struct sealed *sealed = find(seal, address);
    if (!sealed)
        return false;
    if (is_inside(sealed->guarded, address) && atomic_fetch_add(&seal->writes, 1) == 0) {
        snprintf(seal->call, sizeof seal->call, "%s", call);
        seal->written = sealed;
    }
    atomic_store(&sealed->touched, true);
    return atomic_fetch_add(&seal->tries, 1) < MOST_TRIES &&
           guarded_set_writable(sealed->guarded, true);
}

const struct sealed *seal_written(const struct seal *seal)
{
    return seal->written;
}
