#include "backend/host/arguments.h"
#include "backend/host/lists.h"
#include "backend/host/profile.h"
#include "backend/host/run.h"

#include <assert.h>
#include <stdlib.h>

/* Sets the slots of time records, and makes their buffer, where they are wanted. */
static struct skrt_profile *begin_profile(struct host_run *run, const struct host_launch *launch)
{
    if (!run->options.profile || launch->profile_slot == NONE)
        return NULL;
    assert(launch->profile_slot + 2 <= launch->count);
    uint64_t *slots = run->params + launch->profile_slot;
    struct skrt_profile *buffer = host_profile_buffer(launch->records, &slots[1]);
    slots[0] = (uintptr_t)buffer;
    if (buffer)
        host_profile_begin(&run->profile, launch->skrt.name, launch->ops, launch->n_ops);
    return buffer;
}

/* After a timeout cores may still write. */
static void end_profile(struct host_run *run, struct skrt_profile *buffer, enum skrt_status status)
{
    if (!buffer || status == SKRT_TIMEOUT)
        return;
    host_profile_take(&run->profile, buffer);
    mem_free(buffer);
}

/* What the host does before a launch whose entry waits for tilings. */
static void open_locks(struct host_run *run, const struct host_launch *launch)
{
    for (uint32_t i = 0; i < launch->tilings.count; i++) {
        struct host_tiling_words *words = run->tilings.at[launch->tilings.first + i];
        words->key = (uint64_t)words->choice.key;
        words->blocks = words->choice.blocks;
        words->lock = launch->skrt.entry != NULL;
    }
}

/* Whether the entry has cleared all locks: the next launch would not wait for its own tiling. A
 * report says which is left. */
static bool locks_cleared(struct host_run *run, const struct host_launch *launch)
{
    for (uint32_t i = 0; i < launch->tilings.count; i++) {
        if (!run->tilings.at[launch->tilings.first + i]->lock)
            continue;
        struct text text = {NULL, 0, 0};
        text_printf(&text,
                    "%s: launch %s has not reset the lock of its dynamic op %u, counted from 0\n",
                    skrt_status_text(SKRT_LEFT_SET), launch->skrt.name, i);
        text_char(&text, '\0');
        vec_reserve(&run->reports, 1);
        vec_push(&run->reports, mem_disown(text.at, text.size));
        return false;
    }
    return true;
}

static void set_params(struct host_run *run, const struct host_launch *launch, void *const *values)
{
    for (uint32_t i = 0; i < launch->count; i++) {
        const struct host_argument *argument = &run->arguments.at[launch->first + i];
        assert(argument->slot.kind != SLOT_TENSOR || values[argument->slot.id]);
        run->params[i] = argument->slot.kind == SLOT_TENSOR ? (uintptr_t)values[argument->slot.id]
                                                            : argument->word;
        if (argument->slot.kind == SLOT_LIST)
            list_fill(run, argument->slot.id, (uint64_t *)(uintptr_t)argument->word, values);
    }
}

static enum skrt_status execute_launch(struct host_run *run, const struct host_launch *launch,
                                       void *const *values, double *seconds)
{
    struct skrt_launch skrt = launch->skrt;
    struct skrt_result result;
    set_params(run, launch, values);
    skrt.params = run->params;
    skrt.n_params = launch->count;
    struct skrt_profile *buffer = begin_profile(run, launch);
    open_locks(run, launch);
    /* After a timeout nothing is allocated: cores may still use what exhausted memory frees. */
    vec_reserve(&run->reports, 1);
    enum skrt_status status = skrt_launch(run->device, &skrt, &result);
    if (result.report)
        vec_push(&run->reports, result.report);
    end_profile(run, buffer, status);
    *seconds += result.seconds;
    return status != SKRT_OK || locks_cleared(run, launch) ? status : SKRT_LEFT_SET;
}

/* A race is no end: what follows is run, too. */
static enum skrt_status execute(struct host_run *run, void *const *values, double *seconds)
{
    enum skrt_status outcome = SKRT_OK;
    for (uint32_t i = 0; i < run->launches.count; i++) {
        const struct host_launch *launch = &run->launches.at[i];
        enum skrt_status status = execute_launch(run, launch, values, seconds);
        outcome = status == SKRT_OK ? outcome : status;
        if (status != SKRT_OK && status != SKRT_RACE)
            break;
        for (uint32_t j = 0; j < launch->sends.count; j++)
            *arguments_event(run, run->sends.at[launch->sends.first + j]) = 1;
    }
    return outcome;
}

void host_run_execute(struct backend_run *base, void *const *values, struct run_result *result)
{
    struct host_run *run = (struct host_run *)base;
    *result = (struct run_result){.profile = run->options.profile ? &run->profile : NULL};
    enum skrt_status status = execute(run, values, &result->seconds);
    if (status != SKRT_OK) {
        result->end = status == SKRT_TIMEOUT ? RUN_STUCK : RUN_FAILED;
        result->cause = skrt_status_text(status);
        result->reports = (const char *const *)run->reports.at;
        result->n_reports = run->reports.count;
    }
}
