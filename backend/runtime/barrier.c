/* Barriers of entries: over all launched cores of a type, in halves, and over one core's pipes. */
#include "backend/runtime/instructions.h"
#include "backend/runtime/race.h"

static void group_check(struct skrt_core *core, enum skrt_core_type group)
{
    if (group != core->type)
        skrt_core_misuse(core, "only cores of the group itself can execute it");
}

void skrt_barrier_arrive(struct skrt_core *core, enum skrt_core_type group)
{
    group_check(core, group);
    if (core->arrived - core->awaited == SKRT_FLAG_LIMIT)
        skrt_core_fail(core, SKRT_OVERFLOW, "it has arrived %d times more than it has awaited",
                       SKRT_FLAG_LIMIT);
    if (core->job->race)
        skrt_race_arrive(core);
    struct skrt_half *half = skrt_half_of(core);
    if (skrt_half_count(half, core->arrived++, 1))
        skrt_half_tell(core, half);
}

void skrt_arrive(struct skrt_core *core, enum skrt_core_type group, const struct skrt_site *site)
{
    skrt_core_begin(core, site);
    skrt_core_enter(core);
    skrt_barrier_arrive(core, group);
    skrt_core_leave(core);
}

bool skrt_arrivals_left(const struct skrt_job *job)
{
    assert(job->device->locked);
    for (int type = 0; type < SKRT_CORE_TYPES; type++)
        for (uint32_t i = 0; i < job->launched[type]; i++)
            if (job->cores[type][i].arrived != job->cores[type][i].awaited)
                return true;
    return false;
}

bool skrt_barrier_await(struct skrt_core *core, enum skrt_core_type group)
{
    group_check(core, group);
    uint64_t round = ++core->awaited;
    struct skrt_half *half = skrt_half_of(core);
    skrt_half_release(half); /* if others wait, it is for the same round */
    if (half->released >= round)
        return true;
    assert(round == half->released + 1);
    skrt_half_wait(half, core);
    skrt_core_stop_at(core, SKRT_WAIT_BARRIER);
    return false;
}

void skrt_await(struct skrt_core *core, enum skrt_core_type group, const struct skrt_site *site)
{
    skrt_core_begin(core, site);
    skrt_core_enter(core);
    if (skrt_barrier_await(core, group))
        skrt_core_leave(core);
    else
        skrt_core_switch(core);
    if (core->job->race)
        skrt_race_await(core);
}

void skrt_pipe_barrier(struct skrt_core *core, const struct skrt_site *site)
{
    skrt_core_begin(core, site);
    if (core->job->race)
        skrt_race_drain(core);
}
