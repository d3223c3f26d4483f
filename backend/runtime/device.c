/* Devices: their memory and their threads. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend/runtime/instructions.h"
#include "backend/runtime/queue.h"
#include "backend/runtime/race.h"
#include "backend/runtime/scheduler.h"

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

/* Zeroed, each on cache lines of its own. */
static void *allocate_apart(size_t n, size_t size)
{
    void *memory = aligned_alloc(_Alignof(struct skrt_worker), n * size);
    return memory ? memset(memory, 0, n * size) : NULL;
}

static bool device_allocate(struct skrt_device *device, const struct skrt_device_config *config)
{
    uint32_t threads = thread_count(config), sets = config->apart ? 2 : 1;
    uint32_t places = sets * (config->aic + config->aiv);
    uint32_t processors = processor_count();
    device->capacity[SKRT_AIC] = config->aic;
    device->capacity[SKRT_AIV] = config->aiv;
    device->n_places = places;
    device->n_searchers = threads < processors ? threads : processors;
    device->most_fibers = skrt_sched_most_stacks(places, threads);
    device->holders[SKRT_AIC] = calloc(places, sizeof *device->holders[SKRT_AIC]);
    device->fibers = allocate_apart(device->most_fibers, sizeof *device->fibers);
    device->free_fibers = calloc(device->most_fibers, sizeof *device->free_fibers);
    device->workers = allocate_apart(threads, sizeof *device->workers);
    if (!device->holders[SKRT_AIC] || !device->fibers || !device->free_fibers || !device->workers)
        return false;
    device->holders[SKRT_AIV] = device->holders[SKRT_AIC] + sets * config->aic;
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

/* A thread that cannot be started may lack its stack, or be one too many: both are EAGAIN. */
static bool has_room_for_stack(void)
{
    size_t size = 0;
    pthread_attr_t attr;
    if (pthread_attr_init(&attr) == 0) {
        pthread_attr_getstacksize(&attr, &size);
        pthread_attr_destroy(&attr);
    }
    void *room = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return room != MAP_FAILED && munmap(room, size) == 0;
}

static bool threads_start(struct skrt_device *device, uint32_t n)
{
    sigset_t before;
    block_signals(&before);
    int error = 0;
    skrt_lock(device);
    for (uint32_t i = 0; i < n && error == 0; i++) {
        struct skrt_worker *worker = &device->workers[i];
        worker->device = device;
        error = pthread_create(&worker->thread, NULL, skrt_sched_thread, worker);
        error = error == EAGAIN && !has_room_for_stack() ? ENOMEM : error;
        device->n_workers += error == 0;
    }
    /* The first launch shall find them. Where there is no memory, launches that need it say so. */
    (void)skrt_sched_map_stacks(device,
                                (uint64_t)device->capacity[SKRT_AIC] + device->capacity[SKRT_AIV]);
    skrt_unlock(device);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return error == 0;
}

static void nothing(skrt_core *core)
{
    (void)core;
}

/* The first launch shall find what others do: threads that have started, and memory that has been
 * touched. Where there is no memory, launches that need it say so. */
static void warm_up(struct skrt_device *device)
{
    skrt_lock(device);
    while (device->n_started < device->n_workers)
        skrt_sched_wait_done(device, 0);
    skrt_unlock(device);
    for (int type = 0; type < SKRT_CORE_TYPES; type++) {
        struct skrt_result result;
        const struct skrt_launch launch = {.name = "warm-up",
                                           .entry = nothing,
                                           .blocks = device->capacity[type],
                                           .aics = type == SKRT_AIC,
                                           .aivs = type == SKRT_AIV};
        if (launch.blocks > 0)
            (void)skrt_launch(device, &launch, &result);
        free(launch.blocks > 0 ? result.report : NULL);
    }
}

static void device_free(struct skrt_device *device)
{
    for (uint32_t i = 0; i < device->n_fibers; i++)
        skrt_fiber_unmap(&device->fibers[i]);
    for (uint32_t i = 0; i < device->job_room; i++) {
        skrt_race_close(&device->jobs[i]);
        free(device->jobs[i].cores[SKRT_AIC]);
        free(device->jobs[i].cores[SKRT_AIV]);
    }
    free(device->jobs);
    free(device->holders[SKRT_AIC]);
    free(device->fibers);
    free(device->free_fibers);
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
    struct skrt_device *device = allocate_apart(1, sizeof *device);
    if (!device)
        return NULL;
    device->core_ended = skrt_queue_core_ended;
    device->came_to_rest = skrt_queue_came_to_rest;
    device->core_run = skrt_launch_core_run;
    if (!device_allocate(device, config)) {
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
    warm_up(device);
    return device;
}

void skrt_device_close(struct skrt_device *device)
{
    if (!device)
        return;
    skrt_lock(device);
    bool running = device->broken == SKRT_TIMEOUT && /* what goes on? */
                   atomic_load(&device->n_idle) < device->n_workers;
    if (!running)
        skrt_sched_dismiss(device);
    skrt_unlock(device);
    if (running)
        return;
    for (uint32_t i = 0; i < device->n_workers; i++)
        pthread_join(device->workers[i].thread, NULL);
    device_free(device);
}
