/* Calls of sub-kernels, and what a sub-kernel asks about the one that it is in. */
#include "backend/runtime/instructions.h"
#include "backend/runtime/race.h"
#include "backend/runtime/shape.h"

void skrt_call_check_nesting(struct skrt_core *core)
{
    if (core->call)
        skrt_core_misuse(core, "a call inside a sub-kernel");
}

static void call_check(struct skrt_core *core, const struct skrt_call *call)
{
    char why[128];
    skrt_call_check_nesting(core);
    if (skrt_call_misfit(core->job->launch, core->type, call, why, sizeof why))
        skrt_core_misuse(core, "%s", why);
}

void skrt_call_pass(struct skrt_core *core, const struct skrt_call *call)
{
    core->calls++;
    if (core->job->race)
        skrt_race_call(core, call, false);
}

static void call_run(struct skrt_core *core, const struct skrt_call *call, unsigned early,
                     const struct skrt_site *site)
{
    assert(!core->sync);
    if (core->timing)
        skrt_profile_call(core);
    core->call = call;
    core->early = early;
    core->early_done = 0;
    atomic_store_explicit(&core->ran, site, memory_order_relaxed);
    atomic_store_explicit(&core->in_call, true, memory_order_relaxed);
    skrt_sched_let_go(core->worker);
    call->fn(core, call->args_offset);
    skrt_early_check(core, site);
    atomic_store_explicit(&core->in_call, false, memory_order_relaxed);
    if (core->sync)
        skrt_sync_point_leave(core);
    core->call = NULL;
}

/* For the race check a sub-kernel that waits for the op before it begins when that is over. */
void skrt_call_early(struct skrt_core *core, const struct skrt_call *call, unsigned early,
                     const struct skrt_site *site)
{
    skrt_core_begin(core, site);
    call_check(core, call);
    if (!skrt_core_included(core, call)) {
        skrt_call_pass(core, call);
        skrt_early_idle(core, call, early, site);
        return;
    }
    core->calls++;
    if (core->job->race && !(early & SKRT_EARLY_WAITS))
        skrt_race_call(core, call, true);
    call_run(core, call, early, site);
}

void skrt_call(struct skrt_core *core, const struct skrt_call *call, const struct skrt_site *site)
{
    skrt_call_early(core, call, 0, site);
}

/* ---------------------------------------------------- what sub-kernels ask ---- */

uint64_t *skrt_args(const struct skrt_core *core, uint64_t args_offset)
{
    return core->job->launch->params + args_offset;
}

enum skrt_core_type skrt_core_type(const struct skrt_core *core)
{
    return core->type;
}

uint32_t skrt_core_index(const struct skrt_core *core)
{
    return core->index;
}

uint32_t skrt_block_idx(const struct skrt_core *core)
{
    return core->call && core->call->flat ? core->index : core->block;
}

uint32_t skrt_block_num(const struct skrt_core *core)
{
    return core->call ? core->call->blocks : core->job->launch->blocks;
}

uint32_t skrt_sub_block_idx(const struct skrt_core *core)
{
    return core->call && core->call->flat ? 0 : core->sub;
}

uint32_t skrt_sub_block_num(const struct skrt_core *core)
{
    if (core->type == SKRT_AIC || (core->call && core->call->flat))
        return 1;
    return core->job->launch->aivs;
}
