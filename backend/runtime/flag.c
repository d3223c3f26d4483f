/* Flags between an AIC and its AIVs: those of entries and those of sub-kernels. Each AIV has the
 * counters of both directions. */
#include "backend/runtime/instructions.h"
#include "backend/runtime/race.h"

/* Consumes one release for a core that waits, if all that it takes are there. */
static bool flag_take(struct skrt_core *core, enum skrt_flag flag)
{
    uint32_t n;
    struct skrt_core *aivs = skrt_flag_aivs(core, flag, &n);
    for (uint32_t i = 0; i < n; i++)
        if (aivs[i].flags[flag] == 0)
            return false;
    core->waits += !skrt_flag_table[flag].kernel;
    for (uint32_t i = 0; i < n; i++) {
        aivs[i].flags[flag]--;
        if (core->job->race)
            skrt_race_take(core, &aivs[i], flag);
    }
    return true;
}

static void flag_wake(struct skrt_core *core, enum skrt_flag flag)
{
    if (core->state == SKRT_CORE_BLOCKED && core->wait == SKRT_WAIT_FLAG &&
        core->wait_flag == flag && flag_take(core, flag))
        skrt_sched_ready(core);
}

static void flag_raise(struct skrt_core *core, struct skrt_core *aiv, enum skrt_flag flag)
{
    const struct skrt_flag_info *info = &skrt_flag_table[flag];
    if (aiv->flags[flag] == SKRT_FLAG_LIMIT)
        skrt_core_fail(core, SKRT_OVERFLOW, "%s of aiv %u is set %d times already", info->name,
                       aiv->index, SKRT_FLAG_LIMIT);
    aiv->flags[flag]++;
    if (core->job->race)
        skrt_race_set(core, aiv, flag);
}

static void flag_set(struct skrt_core *core, enum skrt_flag flag)
{
    uint32_t n;
    struct skrt_core *aivs = skrt_flag_aivs(core, flag, &n);
    core->sets += !skrt_flag_table[flag].kernel;
    for (uint32_t i = 0; i < n; i++)
        flag_raise(core, &aivs[i], flag);
    if (core->type == SKRT_AIV)
        flag_wake(&core->job->cores[SKRT_AIC][core->block], flag);
    else
        for (uint32_t i = 0; i < n; i++)
            flag_wake(&aivs[i], flag);
}

static void flag_check(struct skrt_core *core, enum skrt_flag flag, bool set)
{
    const struct skrt_flag_info *info = &skrt_flag_table[flag];
    const char *why = NULL;
    if ((core->type == info->setter) != set)
        why = "this core type cannot execute it";
    else if (core->job->launch->aics == 0)
        why = "the launch has no AIC";
    else if (info->kernel && !core->call)
        why = "it is only for sub-kernels";
    else if (info->kernel && core->call->flat)
        why = "the sub-kernel has no part for AICs";
    if (why)
        skrt_core_misuse(core, "%s %s: %s", set ? "set" : "wait", info->name, why);
}

bool skrt_flag_begin(struct skrt_core *core, enum skrt_flag flag, bool set)
{
    flag_check(core, flag, set);
    if (set)
        flag_set(core, flag);
    if (set || flag_take(core, flag))
        return true;
    core->wait_flag = flag;
    skrt_core_stop_at(core, SKRT_WAIT_FLAG);
    return false;
}

static void flag_execute(struct skrt_core *core, enum skrt_flag flag, bool set,
                         const struct skrt_site *site)
{
    skrt_core_begin(core, site);
    skrt_core_enter(core);
    if (skrt_flag_begin(core, flag, set))
        skrt_core_leave(core);
    else
        skrt_core_switch(core);
}

bool skrt_flag_left_set(const struct skrt_job *job)
{
    assert(job->device->locked);
    for (uint32_t i = 0; i < job->launched[SKRT_AIV]; i++)
        for (int flag = 0; flag < SKRT_FLAGS; flag++)
            if (job->cores[SKRT_AIV][i].flags[flag] > 0)
                return true;
    return false;
}

/* ------------------------------------------- full barriers of mixed sub-kernels ---- */

/* The AIC has taken what the AIVs of its AI core have set for this barrier: if that was the
 * entry's, or theirs is taken by the entry, the barrier separates nothing. */
static void meeting_check(struct skrt_core *core)
{
    uint32_t n;
    struct skrt_core *aivs = skrt_flag_aivs(core, SKRT_FLAG_V2C, &n);
    skrt_core_enter(core);
    for (uint32_t i = 0; i < n; i++)
        if (!aivs[i].meeting || aivs[i].sets != core->waits || aivs[i].waits != core->sets)
            skrt_core_fail(core, SKRT_MISUSE,
                           "its full barrier has met a release of the entry's flags: aiv %u has "
                           "set v2c %llu times and waited for c2v %llu times, its AIC has waited "
                           "%llu times and set %llu times",
                           aivs[i].index, (unsigned long long)aivs[i].sets,
                           (unsigned long long)aivs[i].waits, (unsigned long long)core->waits,
                           (unsigned long long)core->sets);
    skrt_core_leave(core);
}

void skrt_flag_meet(struct skrt_core *core)
{
    const struct skrt_site *site = skrt_core_call_site(core);
    core->meeting = true;
    if (core->type == SKRT_AIC) {
        flag_execute(core, SKRT_FLAG_V2C, false, site);
        meeting_check(core);
        return;
    }
    flag_execute(core, SKRT_FLAG_V2C, true, site);
    flag_execute(core, SKRT_FLAG_C2V, false, site);
    core->meeting = false;
}

void skrt_flag_part(struct skrt_core *core)
{
    core->meeting = false;
    flag_execute(core, SKRT_FLAG_C2V, true, skrt_core_call_site(core));
}

/* ---------------------------------------- what entries and sub-kernels call ---- */

void skrt_set_c2v(struct skrt_core *core, const struct skrt_site *site)
{
    flag_execute(core, SKRT_FLAG_C2V, true, site);
}

void skrt_wait_c2v(struct skrt_core *core, const struct skrt_site *site)
{
    flag_execute(core, SKRT_FLAG_C2V, false, site);
}

void skrt_set_v2c(struct skrt_core *core, const struct skrt_site *site)
{
    flag_execute(core, SKRT_FLAG_V2C, true, site);
}

void skrt_wait_v2c(struct skrt_core *core, const struct skrt_site *site)
{
    flag_execute(core, SKRT_FLAG_V2C, false, site);
}

void skrt_kernel_set_c2v(struct skrt_core *core)
{
    flag_execute(core, SKRT_FLAG_KERNEL_C2V, true, skrt_core_call_site(core));
}

void skrt_kernel_wait_c2v(struct skrt_core *core)
{
    flag_execute(core, SKRT_FLAG_KERNEL_C2V, false, skrt_core_call_site(core));
}

void skrt_kernel_set_v2c(struct skrt_core *core)
{
    flag_execute(core, SKRT_FLAG_KERNEL_V2C, true, skrt_core_call_site(core));
}

void skrt_kernel_wait_v2c(struct skrt_core *core)
{
    flag_execute(core, SKRT_FLAG_KERNEL_V2C, false, skrt_core_call_site(core));
}
