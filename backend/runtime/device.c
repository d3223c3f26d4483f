/* Devices and launches: what launchers call. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "backend/runtime/internal.h"

enum {
    SPINS = 400,                        /* some microseconds: the end of a barrier is near */
    MAX_TIMEOUT_MS = 1000 * 1000 * 1000 /* about eleven days stand for all longer ones */
};

/* ----------------------------------------------------------------- devices ---- */

static uint32_t processor_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (uint32_t)CPU_COUNT(&set);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (uint32_t)n : 1;
}

static uint32_t thread_count(const struct skrt_device_config *config)
{
    uint32_t cores = config->aic + config->aiv;
    uint32_t threads = config->threads > 0 ? config->threads : processor_count();
    return threads < cores ? threads : cores;
}

static bool locks_open(struct skrt_device *device)
{
    pthread_mutexattr_t mutex;
    pthread_condattr_t monotonic;
    pthread_mutexattr_init(&mutex);
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
    pthread_mutexattr_settype(&mutex, PTHREAD_MUTEX_ADAPTIVE_NP); /* held for nanoseconds */
#endif
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    errno = pthread_mutex_init(&device->lock, &mutex);
    if (errno == 0)
        errno = pthread_cond_init(&device->work, &monotonic);
    if (errno == 0)
        errno = pthread_cond_init(&device->done, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutexattr_destroy(&mutex);
    return errno == 0;
}

static bool device_allocate(struct skrt_device *device, const struct skrt_device_config *config)
{
    uint32_t threads = thread_count(config), cores = config->aic + config->aiv;
    struct skrt_core *all = aligned_alloc(_Alignof(struct skrt_core), cores * sizeof *all);
    device->cores[SKRT_AIC] = all;
    device->points = calloc(cores, sizeof *device->points);
    device->workers = calloc(threads, sizeof *device->workers);
    if (!all || !device->points || !device->workers)
        return false;
    memset(all, 0, cores * sizeof *all);
    device->cores[SKRT_AIV] = all + config->aic;
    device->capacity[SKRT_AIC] = config->aic;
    device->capacity[SKRT_AIV] = config->aiv;
    device->spins = threads > 1 && processor_count() > 1 ? SPINS : 0;
    return true;
}

/* Signals that are sent to the process are for the threads of its owner. */
static void block_signals(sigset_t *before)
{
    static const int synchronous[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
    sigset_t set;
    sigfillset(&set);
    for (size_t i = 0; i < sizeof synchronous / sizeof synchronous[0]; i++)
        sigdelset(&set, synchronous[i]);
    pthread_sigmask(SIG_SETMASK, &set, before);
}

static bool threads_start(struct skrt_device *device, uint32_t n)
{
    sigset_t before;
    block_signals(&before);
    int error = 0;
    for (; device->n_workers < n && error == 0; device->n_workers += error == 0) {
        struct skrt_worker *worker = &device->workers[device->n_workers];
        worker->device = device;
        error = pthread_create(&worker->thread, NULL, skrt_sched_thread, worker);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return error == 0;
}

static void device_free(struct skrt_device *device)
{
    for (uint32_t i = 0; i < device->capacity[SKRT_AIC] + device->capacity[SKRT_AIV]; i++)
        skrt_fiber_unmap(&device->cores[SKRT_AIC][i].fiber);
    skrt_race_close(device);
    free(device->cores[SKRT_AIC]);
    free(device->points);
    free(device->workers);
    free(device);
}

struct skrt_device *skrt_device_open(const struct skrt_device_config *config)
{
    if (config->aic > SKRT_MAX_CORES || config->aiv > SKRT_MAX_CORES ||
        config->aic + config->aiv == 0) {
        errno = EINVAL;
        return NULL;
    }
    struct skrt_device *device = calloc(1, sizeof *device);
    if (!device)
        return NULL;
    if (!device_allocate(device, config) || !locks_open(device)) {
        int error = errno;
        device_free(device);
        errno = error;
        return NULL;
    }
    if (!threads_start(device, thread_count(config))) {
        int error = errno;
        skrt_device_close(device);
        errno = error;
        return NULL;
    }
    return device;
}

void skrt_device_close(struct skrt_device *device)
{
    if (!device)
        return;
    pthread_mutex_lock(&device->lock);
    bool running = device->busy > 0; /* after a timeout */
    device->closing = !running;
    pthread_cond_broadcast(&device->work);
    pthread_mutex_unlock(&device->lock);
    if (running)
        return;
    for (uint32_t i = 0; i < device->n_workers; i++)
        pthread_join(device->workers[i].thread, NULL);
    pthread_cond_destroy(&device->work);
    pthread_cond_destroy(&device->done);
    pthread_mutex_destroy(&device->lock);
    device_free(device);
}

/* ------------------------------------------------------- checking a launch ---- */

static bool shape_known(const struct skrt_launch *launch)
{
    static const uint8_t shapes[][2] = {{1, 0}, {0, 1}, {1, 1}, {1, SKRT_MAX_AIVS}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        if (launch->aics == shapes[i][0] && launch->aivs == shapes[i][1])
            return true;
    return false;
}

/* Fails, with a cause, if the device has too few cores. */
static bool cores_suffice(struct skrt_device *device, const struct skrt_launch *launch)
{
    const uint64_t per_block[SKRT_CORE_TYPES] = {launch->aics, launch->aivs};
    for (int type = 0; type < SKRT_CORE_TYPES; type++) {
        uint64_t need = launch->blocks * per_block[type];
        if (need <= device->capacity[type])
            continue;
        snprintf(device->cause, sizeof device->cause,
                 "%u blocks need %llu %s cores, the device has %u", launch->blocks,
                 (unsigned long long)need, skrt_core_type_names[type], device->capacity[type]);
        return false;
    }
    return true;
}

/* Fails, with a cause, if a part of a sub-kernel that is launched alone does not fit. Needs the
 * launch to be set up. */
static bool parts_fit(struct skrt_device *device)
{
    const struct skrt_launch *launch = device->launch;
    char why[128];
    for (int type = 0; type < SKRT_CORE_TYPES; type++) {
        const struct skrt_call *part = &launch->parts[type];
        const char *name = skrt_core_type_names[type];
        if (!part->fn)
            continue;
        if (device->launched[type] == 0) {
            snprintf(device->cause, sizeof device->cause,
                     "there is a part for %s cores, but the launch has none", name);
            return false;
        }
        if (skrt_call_misfit(device, (enum skrt_core_type)type, part, why, sizeof why)) {
            snprintf(device->cause, sizeof device->cause, "%s part: %s", name, why);
            return false;
        }
    }
    return true;
}

/* Fails, with a cause, if there is something against a launch before it is set up. */
static bool launch_possible(struct skrt_device *device, const struct skrt_launch *launch)
{
    const char *why = NULL;
    if (device->broken != SKRT_OK)
        why = "an earlier launch was stopped and has left the device unusable";
    else if (!shape_known(launch))
        why = "an AI core is (1, 0), (0, 1), (1, 1) or (1, 2) AICs and AIVs";
    else if (launch->blocks == 0)
        why = "no blocks";
    else if (!launch->params && launch->n_params > 0)
        why = "the parameters are missing";
    else if (!launch->entry && !launch->parts[SKRT_AIC].fn && !launch->parts[SKRT_AIV].fn)
        why = "neither an entry nor a sub-kernel";
    else if (!launch->entry && launch->race)
        why = "a race check is for entries";
    if (!why)
        return cores_suffice(device, launch);
    snprintf(device->cause, sizeof device->cause, "%s", why);
    return false;
}

/* ---------------------------------------------------------------- launches ---- */

static void core_reset(struct skrt_core *core, enum skrt_core_type type, uint32_t index)
{
    const struct skrt_launch *launch = core->device->launch;
    uint32_t per_block = type == SKRT_AIC ? launch->aics : launch->aivs;
    core->type = type;
    core->index = index;
    core->block = index / per_block;
    core->sub = index % per_block;
    core->worker = NULL;
    core->state = SKRT_CORE_READY;
    core->arrived = core->awaited = core->calls = 0;
    core->timed_slot = 0;
    memset(core->flags, 0, sizeof core->flags);
    core->sync = NULL;
    core->feed = NULL;
    core->call = NULL;
    core->variant = NULL;
    atomic_store(&core->site, NULL);
    atomic_store(&core->ran, NULL);
    atomic_store(&core->in_call, false);
    atomic_store(&core->on_thread, false);
    skrt_fiber_reset(&core->fiber, skrt_core_main, core);
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

static void points_reset(struct skrt_device *device)
{
    uint32_t n = device->capacity[SKRT_AIC] + device->capacity[SKRT_AIV];
    device->free_points = NULL;
    for (uint32_t i = 0; i < n; i++) {
        device->points[i].next = device->free_points;
        device->free_points = &device->points[i];
    }
}

/* The state of a launch before its first instruction; false, with a cause, if it cannot be. */
static bool launch_set_up(struct skrt_device *device, const struct skrt_launch *launch)
{
    if (!launch_possible(device, launch))
        return false;
    device->launch_copy = *launch;
    device->launch_copy.name = launch->name ? launch->name : "(no name)";
    device->launch = &device->launch_copy;
    device->launched[SKRT_AIC] = launch->blocks * launch->aics;
    device->launched[SKRT_AIV] = launch->blocks * launch->aivs;
    if (!launch->entry && !parts_fit(device))
        return false;
    device->part_site = (struct skrt_site){"sub-kernel", device->launch->name};
    device->unfinished = device->launched[SKRT_AIC] + device->launched[SKRT_AIV];
    points_reset(device);
    for (int type = 0; type < SKRT_CORE_TYPES; type++) {
        device->live_points[type] = NULL;
        device->barriers[type] = (struct skrt_barrier){.behind = device->launched[type]};
        if (!cores_reset(device, (enum skrt_core_type)type)) {
            snprintf(device->cause, sizeof device->cause, "no memory for the cores' stacks");
            return false;
        }
    }
    const char *why = launch->race ? skrt_race_open(device) : NULL;
    if (why)
        snprintf(device->cause, sizeof device->cause, "%s", why);
    return !why;
}

/* Lets the threads have the cores. */
static void launch_start(struct skrt_device *device)
{
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
    int error = 0;
    while (!device->settled && error != ETIMEDOUT)
        error = ms == 0 ? pthread_cond_wait(&device->done, &device->lock)
                        : pthread_cond_timedwait(&device->done, &device->lock, &deadline);
    if (!device->settled)
        launch_time_out(device);
}

static void launch_finish(struct skrt_device *device, struct skrt_result *result)
{
    if (device->status == SKRT_OK && skrt_report_finds_left_set(device)) {
        device->status = SKRT_LEFT_SET;
        snprintf(device->cause, sizeof device->cause,
                 "all cores have finished, but releases are left over");
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
    pthread_mutex_lock(&device->lock);
    if (launch_set_up(device, launch)) {
        device->begin = begin;
        launch_start(device);
        launch_wait(device);
        result->seconds = seconds_since(&begin);
        launch_finish(device, result);
    } else {
        launch_refuse(device, result);
    }
    pthread_mutex_unlock(&device->lock);
    return result->status;
}
