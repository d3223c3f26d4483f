/* What a core of the virtual device executes: instructions of entries and the part of the
 * runtime that sub-kernels call. The rules are those of docs/device-model.md. */
#include <stdarg.h>
#include <stdio.h>

#include "backend/runtime/internal.h"

const struct skrt_flag_info skrt_flag_table[SKRT_FLAGS] = {
    [SKRT_FLAG_C2V] = {"c2v", SKRT_AIC, false},
    [SKRT_FLAG_V2C] = {"v2c", SKRT_AIV, false},
    [SKRT_FLAG_KERNEL_C2V] = {"its kernel's c2v", SKRT_AIC, true},
    [SKRT_FLAG_KERNEL_V2C] = {"its kernel's v2c", SKRT_AIV, true},
};

/* ------------------------------------------------ beginning and failing ---- */

/* Takes the lock, unless the launch was stopped: then the core halts. */
void skrt_core_lock(struct skrt_core *core)
{
    pthread_mutex_lock(&core->device->lock);
    if (atomic_load_explicit(&core->device->stopped, memory_order_relaxed))
        skrt_sched_halt(core, SKRT_CORE_HALTED);
}

void skrt_core_unlock(struct skrt_core *core)
{
    pthread_mutex_unlock(&core->device->lock);
}

/* A stopped launch must not go on even where cores never block. */
void skrt_core_begin(struct skrt_core *core, const struct skrt_site *site)
{
    atomic_store_explicit(&core->site, site, memory_order_relaxed);
    if (atomic_load_explicit(&core->device->stopped, memory_order_relaxed))
        skrt_core_lock(core);
}

/* Stops the launch: this core cannot execute what it is at. Needs the lock. */
_Noreturn void skrt_core_fail(struct skrt_core *core, enum skrt_status status, const char *format,
                              ...)
{
    char cause[256];
    const struct skrt_site *site = atomic_load_explicit(&core->site, memory_order_relaxed);
    int n = snprintf(cause, sizeof cause, "%s %u at `%.80s`: ", skrt_core_type_names[core->type],
                     core->index, site && site->text ? site->text : "?");
    va_list args;
    va_start(args, format);
    if (n > 0 && (size_t)n < sizeof cause)
        vsnprintf(cause + n, sizeof cause - (size_t)n, format, args);
    va_end(args);
    skrt_sched_stop(core->device, status, cause);
    skrt_sched_halt(core, SKRT_CORE_HALTED);
}

void skrt_core_misuse(struct skrt_core *core, const char *why)
{
    skrt_core_lock(core);
    skrt_core_fail(core, SKRT_MISUSE, "%s", why);
}

void skrt_core_race_check(struct skrt_core *core, const char *why)
{
    if (why)
        skrt_core_fail(core, SKRT_MISUSE, "%s", why);
}

void skrt_core_block(struct skrt_core *core, enum skrt_wait wait)
{
    core->state = SKRT_CORE_BLOCKED;
    core->wait = wait;
    skrt_sched_switch(core);
}

/* --------------------------------------------------------------- barriers ---- */

static void group_check(struct skrt_core *core, enum skrt_core_type group)
{
    if (group == core->type)
        return;
    skrt_core_lock(core);
    skrt_core_fail(core, SKRT_MISUSE, "only cores of the group itself can execute it");
}

/* All have arrived once more. Those that are not ahead of the new round are behind. */
static void barrier_complete(struct skrt_core *core)
{
    struct skrt_device *device = core->device;
    struct skrt_barrier *barrier = &device->barriers[core->type];
    uint64_t complete = atomic_load_explicit(&barrier->complete, memory_order_relaxed) + 1;
    for (uint32_t i = 0; i < device->launched[core->type]; i++)
        barrier->behind += device->cores[core->type][i].arrived == complete;
    atomic_store_explicit(&barrier->complete, complete, memory_order_release);
    skrt_sched_wake_all(device, &barrier->waiters);
}

void skrt_arrive(struct skrt_core *core, enum skrt_core_type group, const struct skrt_site *site)
{
    skrt_core_begin(core, site);
    group_check(core, group);
    struct skrt_barrier *barrier = &core->device->barriers[group];
    skrt_core_lock(core);
    if (core->device->race)
        skrt_core_race_check(core, skrt_race_arrive(core));
    bool behind = core->arrived == atomic_load_explicit(&barrier->complete, memory_order_relaxed);
    core->arrived++;
    if (behind && --barrier->behind == 0)
        barrier_complete(core);
    skrt_core_unlock(core);
}

static void barrier_wait(struct skrt_core *core, uint64_t round)
{
    struct skrt_barrier *barrier = &core->device->barriers[core->type];
    if (atomic_load_explicit(&barrier->complete, memory_order_acquire) >= round)
        return;
    skrt_core_lock(core);
    if (atomic_load_explicit(&barrier->complete, memory_order_relaxed) >= round) {
        skrt_core_unlock(core);
        return;
    }
    skrt_sched_push(&barrier->waiters, core);
    skrt_core_block(core, SKRT_WAIT_BARRIER);
}

void skrt_await(struct skrt_core *core, enum skrt_core_type group, const struct skrt_site *site)
{
    skrt_core_begin(core, site);
    group_check(core, group);
    barrier_wait(core, ++core->awaited);
    if (!core->device->race)
        return;
    skrt_core_lock(core);
    skrt_race_await(core);
    skrt_core_unlock(core);
}

/* ------------------------------------------------------------------ flags ---- */

static bool is_setter(const struct skrt_core *core, enum skrt_flag flag)
{
    return core->type == skrt_flag_table[flag].setter;
}

struct skrt_core *skrt_flag_aivs(const struct skrt_core *core, enum skrt_flag flag, uint32_t *n)
{
    const struct skrt_device *device = core->device;
    uint32_t launched = device->launch->aivs;
    *n = 1;
    if (core->type == SKRT_AIC)
        *n = skrt_flag_table[flag].kernel ? core->call->aivs : launched;
    uint32_t first = core->type == SKRT_AIC ? core->block * launched : core->index;
    return device->cores[SKRT_AIV] + first;
}

/* Consumes one release for a core that waits, if all that it takes are there. */
static bool flag_take(struct skrt_core *core, enum skrt_flag flag)
{
    uint32_t n;
    struct skrt_core *aivs = skrt_flag_aivs(core, flag, &n);
    for (uint32_t i = 0; i < n; i++)
        if (aivs[i].flags[flag] == 0)
            return false;
    for (uint32_t i = 0; i < n; i++) {
        aivs[i].flags[flag]--;
        if (core->device->race)
            skrt_race_take(core, &aivs[i], flag);
    }
    return true;
}

static void flag_wake(struct skrt_core *core, enum skrt_flag flag)
{
    if (core->state == SKRT_CORE_BLOCKED && core->wait == SKRT_WAIT_FLAG &&
        core->wait_flag == flag && flag_take(core, flag))
        skrt_sched_wake(core);
}

static void flag_raise(struct skrt_core *core, struct skrt_core *aiv, enum skrt_flag flag)
{
    const struct skrt_flag_info *info = &skrt_flag_table[flag];
    if (aiv->flags[flag] == SKRT_FLAG_LIMIT)
        skrt_core_fail(core, SKRT_OVERFLOW, "%s of aiv %u is set %d times already", info->name,
                       aiv->index, SKRT_FLAG_LIMIT);
    aiv->flags[flag]++;
    if (core->device->race)
        skrt_core_race_check(core, skrt_race_set(core, aiv, flag));
}

static void flag_set(struct skrt_core *core, enum skrt_flag flag)
{
    uint32_t n;
    struct skrt_core *aivs = skrt_flag_aivs(core, flag, &n);
    skrt_core_lock(core);
    for (uint32_t i = 0; i < n; i++)
        flag_raise(core, &aivs[i], flag);
    if (core->type == SKRT_AIV)
        flag_wake(&core->device->cores[SKRT_AIC][core->block], flag);
    else
        for (uint32_t i = 0; i < n; i++)
            flag_wake(&aivs[i], flag);
    skrt_core_unlock(core);
}

static void flag_wait(struct skrt_core *core, enum skrt_flag flag)
{
    skrt_core_lock(core);
    if (flag_take(core, flag)) {
        skrt_core_unlock(core);
        return;
    }
    core->wait_flag = flag;
    skrt_core_block(core, SKRT_WAIT_FLAG);
}

static void flag_check(struct skrt_core *core, enum skrt_flag flag, bool set)
{
    const struct skrt_flag_info *info = &skrt_flag_table[flag];
    const char *why = NULL;
    if (is_setter(core, flag) != set)
        why = "this core type cannot execute it";
    else if (core->device->launch->aics == 0)
        why = "the launch has no AIC";
    else if (info->kernel && !core->call)
        why = "it is only for sub-kernels";
    else if (info->kernel && core->call->flat)
        why = "the sub-kernel has no part for AICs";
    if (!why)
        return;
    skrt_core_lock(core);
    skrt_core_fail(core, SKRT_MISUSE, "%s %s: %s", set ? "set" : "wait", info->name, why);
}

static void flag_execute(struct skrt_core *core, enum skrt_flag flag, bool set,
                         const struct skrt_site *site)
{
    skrt_core_begin(core, site);
    flag_check(core, flag, set);
    if (set)
        flag_set(core, flag);
    else
        flag_wait(core, flag);
}

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

/* Inside a sub-kernel the instruction, for reports, is the call. */
static void kernel_flag_execute(struct skrt_core *core, enum skrt_flag flag, bool set)
{
    const struct skrt_site *site =
        atomic_load_explicit(core->call ? &core->ran : &core->site, memory_order_relaxed);
    flag_execute(core, flag, set, site);
}

void skrt_kernel_set_c2v(struct skrt_core *core)
{
    kernel_flag_execute(core, SKRT_FLAG_KERNEL_C2V, true);
}

void skrt_kernel_wait_c2v(struct skrt_core *core)
{
    kernel_flag_execute(core, SKRT_FLAG_KERNEL_C2V, false);
}

void skrt_kernel_set_v2c(struct skrt_core *core)
{
    kernel_flag_execute(core, SKRT_FLAG_KERNEL_V2C, true);
}

void skrt_kernel_wait_v2c(struct skrt_core *core)
{
    kernel_flag_execute(core, SKRT_FLAG_KERNEL_V2C, false);
}

/* ------------------------------------------------------------------ calls ---- */

bool skrt_call_misfit(const struct skrt_device *device, enum skrt_core_type type,
                      const struct skrt_call *call, char *why, size_t size)
{
    const struct skrt_launch *launch = device->launch;
    uint32_t cores = call->flat ? device->launched[SKRT_AIV] : launch->blocks;
    why[0] = '\0';
    if (!call->fn)
        snprintf(why, size, "the sub-kernel has no function");
    else if (call->flat && type != SKRT_AIV)
        snprintf(why, size, "the sub-kernel is for AIVs only");
    else if (!call->flat && launch->aics == 0)
        snprintf(why, size, "the sub-kernel needs AICs, the launch has none");
    else if (!call->flat && call->aivs > launch->aivs)
        snprintf(why, size, "the sub-kernel needs %u AIVs per AI core, the launch has %u",
                 call->aivs, launch->aivs);
    else if (call->blocks == 0 || call->blocks > cores)
        snprintf(why, size, "the sub-kernel needs %u blocks, the launch has %u", call->blocks,
                 cores);
    else if (call->args_offset > launch->n_params)
        snprintf(why, size, "its parameters begin at slot %llu, the launch has %zu slots",
                 (unsigned long long)call->args_offset, launch->n_params);
    return why[0] != '\0';
}

bool skrt_core_included(const struct skrt_core *core, const struct skrt_call *call)
{
    if (!call->fn)
        return false; /* a variant without a part for this core type */
    if (call->flat)
        return core->index < call->blocks;
    return core->block < call->blocks && (core->type == SKRT_AIC || core->sub < call->aivs);
}

uint32_t skrt_call_cores(const struct skrt_call *call, enum skrt_core_type type)
{
    return call->blocks * (type == SKRT_AIV && !call->flat ? call->aivs : 1);
}

static void call_check(struct skrt_core *core, const struct skrt_call *call)
{
    char why[128];
    if (!core->call && !skrt_call_misfit(core->device, core->type, call, why, sizeof why))
        return;
    skrt_core_lock(core);
    skrt_core_fail(core, SKRT_MISUSE, "%s", core->call ? "a call inside a sub-kernel" : why);
}

void skrt_core_race_call(struct skrt_core *core, const struct skrt_call *call, bool included)
{
    if (!core->device->race)
        return;
    skrt_core_lock(core);
    skrt_core_race_check(core, skrt_race_call(core, call, included));
    skrt_core_unlock(core);
}

static void sync_point_leave(struct skrt_core *core);

void skrt_call_early(struct skrt_core *core, const struct skrt_call *call, unsigned early,
                     const struct skrt_site *site)
{
    skrt_core_begin(core, site);
    call_check(core, call);
    core->calls++;
    bool included = skrt_core_included(core, call);
    if (!included || !(early & SKRT_EARLY_WAITS))
        skrt_core_race_call(core, call, included);
    if (!included) {
        skrt_early_idle(core, call, early, site);
        return;
    }
    if (core->timed_slot != 0)
        skrt_profile_call(core);
    core->call = call;
    core->early = early;
    core->early_done = 0;
    atomic_store_explicit(&core->ran, site, memory_order_relaxed);
    atomic_store_explicit(&core->in_call, true, memory_order_relaxed);
    call->fn(core, call->args_offset);
    skrt_early_check(core, site);
    atomic_store_explicit(&core->in_call, false, memory_order_relaxed);
    if (core->sync)
        sync_point_leave(core);
    core->call = NULL;
}

void skrt_call(struct skrt_core *core, const struct skrt_call *call, const struct skrt_site *site)
{
    skrt_call_early(core, call, 0, site);
}

uint64_t *skrt_args(const struct skrt_core *core, uint64_t args_offset)
{
    return core->device->launch->params + args_offset;
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
    return core->call ? core->call->blocks : core->device->launch->blocks;
}

uint32_t skrt_sub_block_idx(const struct skrt_core *core)
{
    return core->call && core->call->flat ? 0 : core->sub;
}

uint32_t skrt_sub_block_num(const struct skrt_core *core)
{
    if (core->type == SKRT_AIC || (core->call && core->call->flat))
        return 1;
    return core->call ? core->call->aivs : core->device->launch->aivs;
}

/* ----------------------------------------------- barriers inside of calls ---- */

static bool same_cores(const struct skrt_call *a, const struct skrt_call *b)
{
    return a->blocks == b->blocks && a->aivs == b->aivs && a->flat == b->flat;
}

static struct skrt_sync_point *sync_point_new(struct skrt_core *core)
{
    struct skrt_device *device = core->device;
    struct skrt_sync_point *point = device->free_points; /* there are as many as cores */
    device->free_points = point->next;
    const struct skrt_call *call = core->call;
    *point = (struct skrt_sync_point){
        .next = device->live_points[core->type],
        .call_number = core->calls,
        .call = *call,
        .size = skrt_call_cores(call, core->type),
    };
    device->live_points[core->type] = point;
    return point;
}

static struct skrt_sync_point *sync_point_join(struct skrt_core *core)
{
    struct skrt_sync_point *point = core->device->live_points[core->type];
    while (point && point->call_number != core->calls)
        point = point->next;
    if (!point)
        point = sync_point_new(core);
    if (!same_cores(&point->call, core->call))
        skrt_core_fail(core, SKRT_MISUSE, "this is call %llu on cores that differ in its blocks",
                       (unsigned long long)core->calls);
    point->members++;
    core->sync = point;
    return point;
}

static void sync_point_leave(struct skrt_core *core)
{
    struct skrt_sync_point *point = core->sync;
    skrt_core_lock(core);
    core->sync = NULL;
    if (--point->members == 0) {
        struct skrt_sync_point **link = &core->device->live_points[core->type];
        while (*link != point)
            link = &(*link)->next;
        *link = point->next;
        point->next = core->device->free_points;
        core->device->free_points = point;
    }
    skrt_core_unlock(core);
}

/* All have come: those that the call includes and, by the NPU's rule, the others, which feed. */
static bool sync_point_complete(struct skrt_core *core, struct skrt_sync_point *point)
{
    if (point->arrived < point->size)
        return false;
    if (core->device->launch->full_barriers &&
        point->size + skrt_feed_idle(core) < core->device->launched[core->type])
        return false;
    point->arrived = 0;
    skrt_sched_wake_all(core->device, &point->waiters);
    return true;
}

void skrt_sync_point_fed(struct skrt_core *core)
{
    struct skrt_sync_point *point = core->device->live_points[core->type];
    while (point && point->call_number != core->calls)
        point = point->next;
    if (point)
        sync_point_complete(core, point);
}

void skrt_kernel_sync_all(struct skrt_core *core)
{
    skrt_core_lock(core);
    if (!core->call)
        skrt_core_fail(core, SKRT_MISUSE, "a barrier of sub-kernels outside of one");
    atomic_store_explicit(&core->site, atomic_load_explicit(&core->ran, memory_order_relaxed),
                          memory_order_relaxed);
    struct skrt_sync_point *point = core->sync ? core->sync : sync_point_join(core);
    point->arrived++;
    if (sync_point_complete(core, point)) {
        skrt_core_unlock(core);
        return;
    }
    skrt_sched_push(&point->waiters, core);
    skrt_core_block(core, SKRT_WAIT_SYNC_ALL);
}

/* ----------------------------------------------------------- the rest ---- */

void skrt_pipe_barrier(struct skrt_core *core, const struct skrt_site *site)
{
    skrt_core_begin(core, site);
    if (!core->device->race)
        return;
    skrt_core_lock(core);
    skrt_race_drain(core);
    skrt_core_unlock(core);
}

void skrt_hint(struct skrt_core *core, const struct skrt_site *site)
{
    skrt_core_begin(core, site);
}

void skrt_core_main(void *arg)
{
    struct skrt_core *core = arg;
    struct skrt_device *device = core->device;
    skrt_sched_start(core);
    const struct skrt_launch *launch = device->launch;
    if (launch->entry)
        launch->entry(core);
    else if (launch->parts[core->type].fn)
        skrt_call(core, &launch->parts[core->type], &device->part_site);
    skrt_core_lock(core);
    device->unfinished--;
    skrt_sched_halt(core, SKRT_CORE_FINISHED);
}
