/* Memory of a run beside that of values. */
#include "backend/device/run.h"

#include <string.h>

/* Memories that may have pages of their own (ir/base/guarded.h). */
enum { MOST_PAGED = 1024 };

static void *add_memory(struct device_run *run, const struct op *op, const char *what,
                        uint64_t size, bool pages)
{
    struct device_memory memory = {.op = op, .what = what};
    vec_reserve(&run->memories, 1);
    if (!guarded_init(&memory.guarded, size, pages))
        return NULL;
    vec_push(&run->memories, memory);
    return memory.guarded.at;
}

static bool find_damage(struct device_run *run, struct run_damage *damage)
{
    for (uint32_t i = 0; i < run->memories.count; i++) {
        struct device_memory *memory = &run->memories.at[i];
        int64_t first;
        uint64_t bytes = guarded_damage(&memory->guarded, &first);
        if (bytes == 0)
            continue;
        guarded_repair(&memory->guarded);
        *damage = (struct run_damage){run->graph,           memory->op, memory->what,
                                      memory->guarded.size, bytes,      first};
        return true;
    }
    return false;
}

void *device_run_memory(struct device_run *run, const struct op *op, const char *what,
                        uint64_t size)
{
    return add_memory(run, op, what, size, run->memories.count < MOST_PAGED);
}

/* Those of parameters, one of each graph, come last. */
void *device_run_table(struct device_run *run, const struct op *op, const char *what, uint64_t size)
{
    bool pages = (op ? run->memories.count : run->root->runs.count) < MOST_PAGED;
    void *table = add_memory(run, op, what, size, pages);
    if (!table)
        mem_exhausted();
    run->memories.at[run->memories.count - 1].is_table = true;
    return table;
}

static void spoil(struct device_run *run, unsigned char byte)
{
    for (uint32_t i = 0; i < run->memories.count; i++) {
        struct device_memory *memory = &run->memories.at[i];
        guarded_set_pattern(&memory->guarded, byte);
        if (memory->op && !memory->is_table)
            memset(memory->guarded.at, byte, memory->guarded.size);
    }
}

void device_run_spoil(struct backend_run *base, unsigned char byte)
{
    struct device_run *run = (struct device_run *)base;
    for (uint32_t i = 0; i < run->runs.count; i++)
        spoil(run->runs.at[i], byte);
}

bool device_run_damage(struct backend_run *base, struct run_damage *damage)
{
    struct device_run *run = (struct device_run *)base;
    for (uint32_t i = 0; i < run->runs.count; i++)
        if (find_damage(run->runs.at[i], damage))
            return true;
    return false;
}
