/* Barriers of entries: over all launched cores of a type, in halves, and over one core's pipes. */
#include "backend/runtime/instructions.h"
#include "backend/runtime/race.h"

static void group_check(struct skrt_core *core, enum skrt_core_type group)
{
    if (group != core->type)
        skrt_core_misuse(core, "only cores of the group itself can execute it");
}

/* All have arrived once more. Those that are not ahead of the new round are behind. */
static void barrier_complete(struct skrt_core *core)
{
    struct skrt_job *job = core->job;
    struct skrt_barrier *barrier = &job->barriers[core->type];
    uint64_t complete = atomic_load_explicit(&barrier->complete, memory_order_relaxed) + 1;
    for (uint32_t i = 0; i < job->launched[core->type]; i++)
        barrier->behind += job->cores[core->type][i].arrived == complete;
    assert(core->arrived == complete && barrier->behind > 0);
    atomic_store_explicit(&barrier->complete, complete, memory_order_release);
    skrt_sched_wake_all(core->device, &barrier->waiters);
}

void skrt_arrive(struct skrt_core *core, enum skrt_core_type group, const struct skrt_site *site)
{
    skrt_core_begin(core, site);
    group_check(core, group);
    struct skrt_barrier *barrier = &core->job->barriers[group];
    skrt_core_lock(core);
    if (core->arrived - core->awaited == SKRT_FLAG_LIMIT)
        skrt_core_fail(core, SKRT_OVERFLOW, "it has arrived %d times more than it has awaited",
                       SKRT_FLAG_LIMIT);
    if (core->job->race)
        skrt_race_arrive(core);
    uint64_t complete = atomic_load_explicit(&barrier->complete, memory_order_relaxed);
    assert(core->arrived >= complete && barrier->behind > 0);
    bool behind = core->arrived == complete;
    core->arrived++;
    if (behind && --barrier->behind == 0)
        barrier_complete(core);
    skrt_core_unlock(core);
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

static void barrier_wait(struct skrt_core *core, uint64_t round)
{
    struct skrt_barrier *barrier = &core->job->barriers[core->type];
    if (atomic_load_explicit(&barrier->complete, memory_order_acquire) >= round)
        return;
    skrt_core_lock(core);
    uint64_t complete = atomic_load_explicit(&barrier->complete, memory_order_relaxed);
    if (complete >= round) {
        skrt_core_unlock(core);
        return;
    }
    assert(round == complete + 1);
    skrt_sched_push(&barrier->waiters, core);
    skrt_core_block(core, SKRT_WAIT_BARRIER);
}

void skrt_await(struct skrt_core *core, enum skrt_core_type group, const struct skrt_site *site)
{
    skrt_core_begin(core, site);
    group_check(core, group);
    barrier_wait(core, ++core->awaited);
    if (core->job->race)
        skrt_race_await(core);
}

void skrt_pipe_barrier(struct skrt_core *core, const struct skrt_site *site)
{
    skrt_core_begin(core, site);
    if (core->job->race)
        skrt_race_drain(core);
}
