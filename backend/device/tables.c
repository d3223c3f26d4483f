#include "backend/device/tables.h"
#include "backend/device/lists.h"

#include <assert.h>
#include <stdio.h>

void tables_sum(struct device_run *run)
{
    for (uint32_t i = 0; i < run->memories.count; i++)
        if (run->memories.at[i].is_table)
            run->memories.at[i].sum = guarded_sum(&run->memories.at[i].guarded);
}

/* What is to stand in a slot. */
static uint64_t word_of(const struct device_run *run, const struct device_argument *argument)
{
    assert(argument->slot.kind != SLOT_TENSOR || run->values[argument->slot.id]);
    return argument->slot.kind == SLOT_TENSOR ? (uintptr_t)run->values[argument->slot.id]
                                              : argument->word;
}

static void fill_list(struct device_run *run, const struct device_argument *argument)
{
    struct device_memory *memory = &run->memories.at[argument->memory];
    if (list_fill(run, argument->slot.id, (uint64_t *)(uintptr_t)argument->word, run->values))
        memory->sum = guarded_sum(&memory->guarded);
}

void tables_fill(struct device_run *run)
{
    for (uint32_t i = 0; i < run->arguments.count; i++) {
        const struct device_argument *argument = &run->arguments.at[i];
        run->params[i] = word_of(run, argument);
        if (argument->slot.kind == SLOT_LIST)
            fill_list(run, argument);
    }
}

/* ------------------------------------------------------------------------------ places ---- */

/* A slot by its number in the launch, for people. */
static void slot_text(const struct device_launch *launch, const struct device_argument *argument,
                      uint32_t slot, char *text, size_t size)
{
    bool own = argument->op != NONE;
    snprintf(text, size, "slot %u of the launch's arguments, which kernels only read%s%s", slot,
             own ? "; it is for " : "", own ? launch->ops[argument->op] : "");
}

/* Records of time go where a launch that makes some is told to. */
static bool is_constant(const struct device_argument *argument)
{
    return argument->slot.kind != SLOT_WORD || argument->slot.id != W_profiling;
}

static bool is_changed(const struct device_run *run, const struct device_argument *argument)
{
    const struct device_memory *memory =
        argument->memory == NONE ? NULL : &run->memories.at[argument->memory];
    return memory && memory->sum != guarded_sum(&memory->guarded);
}

bool tables_find_changed(const struct device_run *run, const struct device_launch *launch,
                         struct text *text)
{
    char place[1024];
    for (uint32_t i = 0; i < launch->count; i++) {
        const struct device_argument *argument = &run->arguments.at[launch->first + i];
        bool slot =
            is_constant(argument) && run->params[launch->first + i] != word_of(run, argument);
        if (!slot && !is_changed(run, argument))
            continue;
        slot_text(launch, argument, i, place, sizeof place);
        text_printf(text, "%s%s\n", slot ? "" : "the table in ", place);
        return true;
    }
    return false;
}

/* The launch that has an argument; their arguments follow one another. */
static const struct device_launch *launch_of(const struct device_run *run, uint32_t argument)
{
    uint32_t low = 0, high = run->launches.count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (run->launches.at[middle].first <= argument)
            low = middle;
        else
            high = middle;
    }
    return &run->launches.at[low];
}

static bool params_place(const struct device_run *run, const void *address, char *text, size_t size)
{
    const uint64_t *at = address;
    if (!run->params || at < run->params || at >= run->params + run->arguments.count)
        return false;
    uint32_t number = (uint32_t)(((uintptr_t)at - (uintptr_t)run->params) / sizeof *at);
    const struct device_launch *launch = launch_of(run, number);
    slot_text(launch, &run->arguments.at[number], number - launch->first, text, size);
    return true;
}

static bool memory_place(const struct device_run *run, const void *address, char *text, size_t size)
{
    for (uint32_t i = 0; i < run->memories.count; i++) {
        const struct device_memory *memory = &run->memories.at[i];
        int64_t offset = (const unsigned char *)address - memory->guarded.at;
        if (!guarded_is_near(&memory->guarded, address))
            continue;
        snprintf(text, size, "at byte %lld of a %s of %llu bytes%s", (long long)offset,
                 memory->what, (unsigned long long)memory->guarded.size,
                 memory->is_table ? ", which kernels only read" : "");
        return true;
    }
    return false;
}

/* Tables of parameters stand in the list of memories, too. */
bool device_run_place(const struct backend_run *base, const void *address, char *text, size_t size)
{
    const struct device_run *run = (const struct device_run *)base;
    for (uint32_t i = 0; i < run->runs.count; i++)
        if (params_place(run->runs.at[i], address, text, size) ||
            memory_place(run->runs.at[i], address, text, size))
            return true;
    return false;
}
