/* Launches: what there may be against one, its state before the first instruction, its end. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* asprintf */
#endif
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "backend/runtime/instructions.h"
#include "backend/runtime/race.h"
#include "backend/runtime/report.h"
#include "backend/runtime/shape.h"

/* About eleven days stand for all longer timeouts. */
enum { MAX_TIMEOUT_MS = 1000 * 1000 * 1000 };

/* -------------------------------------------------- what there is against one ---- */

/* Records why there can be no launch. Returns false. */
static bool refuse(struct skrt_device *device, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool refuse(struct skrt_device *device, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(device->cause, sizeof device->cause, format, args);
    va_end(args);
    return false;
}

static bool shape_known(const struct skrt_launch *launch)
{
    static const uint8_t shapes[][2] = {{1, 0}, {0, 1}, {1, 1}, {1, SKRT_MAX_AIVS}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        if (launch->aics == shapes[i][0] && launch->aivs == shapes[i][1])
            return true;
    return false;
}

/* Whether the device has enough cores. */
static bool cores_suffice(struct skrt_device *device, const struct skrt_launch *launch)
{
    const uint64_t per_block[SKRT_CORE_TYPES] = {launch->aics, launch->aivs};
    for (int type = 0; type < SKRT_CORE_TYPES; type++) {
        uint64_t need = launch->blocks * per_block[type];
        if (need > device->capacity[type])
            return refuse(device, "%u blocks need %llu %s cores, the device has %u", launch->blocks,
                          (unsigned long long)need, skrt_core_type_names[type],
                          device->capacity[type]);
    }
    return true;
}

/* Whether there is nothing against a launch before it is set up. */
static bool launch_possible(struct skrt_device *device, const struct skrt_launch *launch)
{
    if (device->broken != SKRT_OK)
        return refuse(device, "an earlier launch was stopped and has left the device unusable");
    if (!shape_known(launch))
        return refuse(device, "an AI core is (1, 0), (0, 1), (1, 1) or (1, 2) AICs and AIVs");
    if (launch->blocks == 0)
        return refuse(device, "no blocks");
    if (!launch->params && launch->n_params > 0)
        return refuse(device, "the parameters are missing");
    if (!launch->entry && !launch->parts[SKRT_AIC].fn && !launch->parts[SKRT_AIV].fn)
        return refuse(device, "neither an entry nor a sub-kernel");
    if (!launch->entry && launch->race)
        return refuse(device, "a race check is for entries");
    return cores_suffice(device, launch);
}

/* Whether the parts of a sub-kernel that is launched alone fit the launch that is described. */
static bool parts_fit(struct skrt_device *device)
{
    const struct skrt_launch *launch = device->launch;
    char why[128];
    for (int type = 0; type < SKRT_CORE_TYPES; type++) {
        const struct skrt_call *part = &launch->parts[type];
        const char *name = skrt_core_type_names[type];
        if (!part->fn)
            continue;
        if (device->launched[type] == 0)
            return refuse(device, "there is a part for %s cores, but the launch has none", name);
        if (skrt_call_misfit(device, (enum skrt_core_type)type, part, why, sizeof why))
            return refuse(device, "%s part: %s", name, why);
    }
    return true;
}

/* -------------------------------------------------------------- setting up ---- */

/* The fiber of a core; `arg` is a struct skrt_core. */
static void core_main(void *arg)
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
    assert(!core->call && !core->sync && device->unfinished > 0);
    device->unfinished--;
    skrt_sched_halt(core, SKRT_CORE_FINISHED);
}

static void core_reset(struct skrt_core *core, enum skrt_core_type type, uint32_t index)
{
    const struct skrt_launch *launch = core->device->launch;
    uint32_t per_block = type == SKRT_AIC ? launch->aics : launch->aivs;
    assert(per_block > 0);
    core->type = type;
    core->index = index;
    core->block = index / per_block;
    core->sub = index % per_block;
    core->worker = NULL;
    core->state = SKRT_CORE_NEW;
    core->arrived = core->awaited = core->calls = 0;
    core->sets = core->waits = 0;
    core->meeting = false;
    core->timing = false;
    memset(core->flags, 0, sizeof core->flags);
    core->sync = NULL;
    core->feed = NULL;
    core->call = NULL;
    core->variant = NULL;
    atomic_store(&core->site, NULL);
    atomic_store(&core->ran, NULL);
    atomic_store(&core->in_call, false);
    atomic_store(&core->on_thread, false);
    skrt_fiber_reset(&core->fiber, core_main, core);
}

/* Puts all cores of a type at their start; false without memory for their stacks. */
static bool cores_reset(struct skrt_device *device, enum skrt_core_type type)
{
    for (uint32_t i = 0; i < device->launched[type]; i++) {
        struct skrt_core *core = &device->cores[type][i];
        core->device = device;
        if (!skrt_fiber_map(&core->fiber))
            return false;
        core_reset(core, type, i);
    }
    return true;
}

static void launch_describe(struct skrt_device *device, const struct skrt_launch *launch)
{
    device->launch_copy = *launch;
    device->launch_copy.name = launch->name ? launch->name : "(no name)";
    device->launch = &device->launch_copy;
    device->launched[SKRT_AIC] = launch->blocks * launch->aics;
    device->launched[SKRT_AIV] = launch->blocks * launch->aivs;
    assert(device->launched[SKRT_AIC] <= device->capacity[SKRT_AIC] &&
           device->launched[SKRT_AIV] <= device->capacity[SKRT_AIV]);
    device->unfinished = device->launched[SKRT_AIC] + device->launched[SKRT_AIV];
    device->part_site = (struct skrt_site){"sub-kernel", device->launch->name};
}

/* The state of a launch before its first instruction; false, with a cause, if it cannot be. */
static bool launch_set_up(struct skrt_device *device, const struct skrt_launch *launch)
{
    if (!launch_possible(device, launch))
        return false;
    launch_describe(device, launch);
    if (!launch->entry && !parts_fit(device))
        return false;
    skrt_sync_point_reset(device);
    for (int type = 0; type < SKRT_CORE_TYPES; type++) {
        device->barriers[type] = (struct skrt_barrier){.behind = device->launched[type]};
        if (!cores_reset(device, (enum skrt_core_type)type))
            return refuse(device, "no memory for the cores' stacks");
    }
    const char *why = launch->race ? skrt_race_open(device) : NULL;
    return !why || refuse(device, "%s", why);
}

/* ---------------------------------------------------- its course and its end ---- */

/* Lets the threads have the cores. */
static void launch_start(struct skrt_device *device)
{
    assert(device->busy == 0 && !device->ready.first && !device->event_waiters.first &&
           !device->feeders.first);
    device->status = SKRT_OK;
    device->cause[0] = '\0';
    device->settled = false;
    atomic_store(&device->stopped, false);
    for (int type = 0; type < SKRT_CORE_TYPES; type++)
        for (uint32_t i = 0; i < device->launched[type]; i++)
            skrt_sched_wake(&device->cores[type][i]);
}

static struct timespec deadline_after(uint64_t ms)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    ms = ms < MAX_TIMEOUT_MS ? ms : MAX_TIMEOUT_MS;
    t.tv_sec += (time_t)(ms / 1000);
    t.tv_nsec += (long)(ms % 1000) * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

static void launch_time_out(struct skrt_device *device)
{
    char cause[sizeof device->cause];
    if (device->status == SKRT_OK)
        snprintf(cause, sizeof cause, "not finished after %llu ms",
                 (unsigned long long)device->launch->timeout_ms);
    else /* a core goes on without coming to another instruction */
        snprintf(cause, sizeof cause, "a core goes on in spite of a %s: %.180s",
                 skrt_status_text(device->status), device->cause);
    memcpy(device->cause, cause, sizeof cause);
    device->status = SKRT_TIMEOUT;
    atomic_store(&device->stopped, true);
}

static void launch_wait(struct skrt_device *device)
{
    uint64_t ms = device->launch->timeout_ms;
    struct timespec deadline = deadline_after(ms);
    bool in_time = true;
    while (!device->settled && in_time)
        in_time = skrt_unlocked_wait(device, &device->done, ms > 0 ? &deadline : NULL);
    if (!device->settled)
        launch_time_out(device);
}

static void launch_finish(struct skrt_device *device, struct skrt_result *result)
{
    assert(device->status != SKRT_OK || (device->settled && device->unfinished == 0));
    bool releases = skrt_flag_left_set(device);
    if (device->status == SKRT_OK && (releases || skrt_arrivals_left(device))) {
        device->status = SKRT_LEFT_SET;
        snprintf(device->cause, sizeof device->cause,
                 "all cores have finished, but %s are left over",
                 releases ? "releases" : "arrivals");
    } else if (device->status == SKRT_OK && skrt_race_found(device)) {
        device->status = SKRT_RACE;
        skrt_race_cause(device, device->cause, sizeof device->cause);
    } else if (device->status != SKRT_OK) {
        device->broken = device->status;
    }
    result->status = device->status;
    if (device->status != SKRT_OK)
        result->report = skrt_report_launch(device);
    if (device->settled) {
        skrt_race_close(device);
        device->launch = NULL;
    }
}

/* After a timeout, cores may still run: what they stand on is left alone. */
static void launch_refuse(struct skrt_device *device, struct skrt_result *result)
{
    if (device->broken == SKRT_OK)
        device->launch = NULL;
    result->status = SKRT_INVALID;
    if (asprintf(&result->report, "%s: %s\n", skrt_status_text(SKRT_INVALID), device->cause) < 0)
        result->report = NULL;
}

static double seconds_since(const struct timespec *begin)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (double)(end.tv_sec - begin->tv_sec) + (double)(end.tv_nsec - begin->tv_nsec) * 1e-9;
}

enum skrt_status skrt_launch(struct skrt_device *device, const struct skrt_launch *launch,
                             struct skrt_result *result)
{
    struct timespec begin;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    memset(result, 0, sizeof *result);
    skrt_lock(device);
    if (launch_set_up(device, launch)) {
        device->begin = begin;
        launch_start(device);
        launch_wait(device);
        result->seconds = seconds_since(&begin);
        launch_finish(device, result);
    } else {
        launch_refuse(device, result);
    }
    skrt_unlock(device);
    return result->status;
}
