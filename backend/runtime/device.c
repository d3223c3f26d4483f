/* What launchers call: devices, with their memory and their threads; what is wrong with launches,
 * their course and their end. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* asprintf, sched_getaffinity */
#endif

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend/runtime/core.h"
#include "backend/runtime/instructions.h"
#include "backend/runtime/launch_queue.h"
#include "backend/runtime/race.h"
#include "backend/runtime/report.h"
#include "backend/runtime/scheduler.h"

/* About eleven days stand for all longer timeouts. */
enum { MAX_TIMEOUT_MS = 1000 * 1000 * 1000, NS_PER_MS = 1000 * 1000 };

/* -------------------------------------------------- what there is against one ---- */

/* Why a launch cannot be. */
struct refusal {
    char text[SKRT_CAUSE_SIZE];
};

/* Returns false. */
static bool refuse(struct refusal *why, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool refuse(struct refusal *why, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why->text, sizeof why->text, format, args);
    va_end(args);
    return false;
}

/* Whether a launch apart can be: no entry, which might wait for others, and a device that runs
 * such. */
static bool may_be_apart(const struct skrt_device *device, const struct skrt_launch *launch,
                         struct refusal *why)
{
    if (!launch->apart || (!launch->entry && device->n_places > device->capacity[SKRT_AIC] +
                                                                    device->capacity[SKRT_AIV]))
        return true;
    return refuse(why, "the launch takes no cores of the device, which %s",
                  launch->entry ? "only a single sub-kernel can"
                                : "runs no such launches (apart of its config)");
}

/* Whether the device has enough cores. */
static bool cores_suffice(const struct skrt_device *device, const struct skrt_launch *launch,
                          struct refusal *why)
{
    const uint64_t per_block[SKRT_CORE_TYPES] = {launch->aics, launch->aivs};
    for (int type = 0; type < SKRT_CORE_TYPES; type++) {
        uint64_t need = launch->blocks * per_block[type];
        if (need > device->capacity[type])
            return refuse(why, "%u blocks need %llu %s cores, the device has %u", launch->blocks,
                          (unsigned long long)need, skrt_core_type_names[type],
                          device->capacity[type]);
    }
    return true;
}

/* Whether the parts of a sub-kernel that is launched alone fit the launch that is described. */
static bool parts_fit(const struct skrt_launch *launch, struct refusal *why)
{
    const uint8_t per_block[SKRT_CORE_TYPES] = {launch->aics, launch->aivs};
    char misfit[128];
    for (int type = 0; type < SKRT_CORE_TYPES; type++) {
        const struct skrt_call *part = &launch->parts[type];
        const char *name = skrt_core_type_names[type];
        if (!part->fn)
            continue;
        if (per_block[type] == 0)
            return refuse(why, "there is a part for %s cores, but the launch has none", name);
        if (skrt_call_misfit(launch, (enum skrt_core_type)type, part, misfit, sizeof misfit))
            return refuse(why, "%s part: %s", name, misfit);
    }
    return true;
}

static bool launch_possible(const struct skrt_device *device, const struct skrt_launch *launch,
                            struct refusal *why)
{
    if (device->broken != SKRT_OK)
        return refuse(why, "an earlier launch was stopped and has left the device unusable");
    bool alone = launch->aics + launch->aivs == 1, both = launch->aics == 1 && launch->aivs > 0;
    if (!alone && (!both || launch->aivs > SKRT_MAX_AIVS))
        return refuse(why, "an AI core is (1, 0), (0, 1), (1, 1) or (1, 2) AICs and AIVs");
    if (launch->blocks == 0)
        return refuse(why, "no blocks");
    if (!launch->params && launch->n_params > 0)
        return refuse(why, "the parameters are missing");
    if (!launch->entry && !launch->parts[SKRT_AIC].fn && !launch->parts[SKRT_AIV].fn)
        return refuse(why, "neither an entry nor a sub-kernel");
    if (!launch->entry && launch->race)
        return refuse(why, "a race check is for entries");
    if (launch->race && !skrt_race_fits(launch->race))
        return refuse(why, "the race check speaks of an op that it does not have");
    return may_be_apart(device, launch, why) && cores_suffice(device, launch, why) &&
           (launch->entry || parts_fit(launch, why));
}

static bool signals_are_words(const struct skrt_signal *signals, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!signals[i].word || (uintptr_t)signals[i].word % sizeof(uint64_t) != 0)
            return false;
    return true;
}

static bool queued_possible(const struct skrt_device *device, const struct skrt_queue *queue,
                            const struct skrt_queued *queued, struct refusal *why)
{
    if (queued->stream >= queue->n_streams)
        return refuse(why, "stream %u, but there are %u", queued->stream, queue->n_streams);
    if (!signals_are_words(queued->waits, queued->n_waits) ||
        !signals_are_words(queued->sends, queued->n_sends))
        return refuse(why, "an event is not the address of a 64-bit word");
    return launch_possible(device, &queued->launch, why);
}

/* ---------------------------------------------------- their course and their end ---- */

/* The first time at which a launch may take too long: none that begins later does so earlier than
 * if it began now. The job whose launch that is, if it runs. 0 where no launch has a timeout. */
static uint64_t first_deadline(const struct skrt_device *device, const struct skrt_job **job)
{
    uint64_t first = 0, now = skrt_clock();
    *job = NULL;
    for (uint32_t i = 0; i < device->n_jobs; i++) {
        const struct skrt_job *at = &device->jobs[i];
        bool begun = at->launch != NULL;
        if (!begun && at->at == device->queue->n_launches)
            continue;
        uint64_t ms = device->queue->launches[at->at].launch.timeout_ms;
        ms = ms < MAX_TIMEOUT_MS ? ms : MAX_TIMEOUT_MS;
        uint64_t deadline = (begun ? at->begin : now) + ms * NS_PER_MS;
        if (ms == 0 || (first != 0 && deadline >= first))
            continue;
        first = deadline;
        *job = begun ? at : NULL;
    }
    return first;
}

static void time_out(struct skrt_device *device, const struct skrt_job *job)
{
    char cause[sizeof device->cause];
    if (device->status == SKRT_OK)
        snprintf(cause, sizeof cause, "not finished after %llu ms",
                 (unsigned long long)job->launch->timeout_ms);
    else /* a core goes on without coming to another instruction */
        snprintf(cause, sizeof cause, "a core goes on in spite of a %s: %.180s",
                 skrt_status_text(device->status), device->cause);
    memcpy(device->cause, cause, sizeof cause);
    device->status = SKRT_TIMEOUT;
    device->culprit = job;
    atomic_store(&device->stopped, true);
}

/* Until the queue has come to its end, or a launch has taken too long. */
static void queue_wait(struct skrt_device *device)
{
    while (!device->settled) {
        const struct skrt_job *job;
        uint64_t deadline = first_deadline(device, &job);
        if (job && skrt_clock() >= deadline) {
            time_out(device, job);
            return;
        }
        skrt_sched_wait_done(device, deadline);
    }
}

/* Says why the queue was stopped. While the lock is held, no core changes its state. */
static enum skrt_status report_stop(struct skrt_device *device)
{
    for (struct skrt_job *job = device->running; job; job = job->next)
        for (int type = 0; type < SKRT_CORE_TYPES; type++)
            skrt_barrier_end_bulk(&job->barriers[type]);
    struct skrt_result *result = &device->results[device->culprit->at];
    result->status = device->broken = device->status;
    result->report = skrt_report_queue(device);
    return device->status;
}

/* Nothing was run. */
static enum skrt_status refuse_launch(struct skrt_result *result, const struct refusal *why)
{
    result->status = SKRT_INVALID;
    if (asprintf(&result->report, "%s: %s\n", skrt_status_text(SKRT_INVALID), why->text) < 0)
        result->report = NULL;
    errno = EINVAL;
    return SKRT_INVALID;
}

static enum skrt_status queue_run(struct skrt_device *device, const struct skrt_queue *queue,
                                  struct skrt_result *results)
{
    struct refusal why;
    for (uint32_t i = 0; i < queue->n_launches; i++)
        if (!queued_possible(device, queue, &queue->launches[i], &why))
            return refuse_launch(&results[i], &why);
    if (!skrt_queue_open(device, queue, results)) {
        skrt_queue_close(device);
        refuse(&why, "no memory for the cores and their stacks");
        refuse_launch(&results[0], &why);
        errno = ENOMEM;
        return SKRT_INVALID;
    }
    /* The threads get the first launches. */
    device->status = SKRT_OK;
    device->cause[0] = '\0';
    device->culprit = NULL;
    device->settled = false;
    atomic_store(&device->stopped, false);
    skrt_queue_advance(device);
    skrt_sched_check_rest(device);
    queue_wait(device);
    enum skrt_status status = device->status == SKRT_OK ? SKRT_OK : report_stop(device);
    /* That of launches that have all ended. */
    for (uint32_t i = 0; device->status == SKRT_OK && i < queue->n_launches; i++)
        if (results[i].status != SKRT_OK && status != SKRT_LEFT_SET)
            status = results[i].status;
    skrt_queue_close(device);
    return status;
}

enum skrt_status skrt_launch_all(struct skrt_device *device, const struct skrt_queue *queue,
                                 struct skrt_result *results)
{
    memset(results, 0, queue->n_launches * sizeof *results);
    for (uint32_t i = 0; i < queue->n_launches; i++)
        results[i].status = SKRT_STOPPED;
    if (queue->n_launches == 0)
        return SKRT_OK;
    skrt_lock(device);
    device->begin = skrt_clock();
    enum skrt_status status = queue_run(device, queue, results);
    skrt_unlock(device);
    return status;
}

enum skrt_status skrt_launch(struct skrt_device *device, const struct skrt_launch *launch,
                             struct skrt_result *result)
{
    static const char *const only_stream = "0";
    const struct skrt_queued queued = {.launch = *launch};
    const struct skrt_queue queue = {1, 1, &queued, &only_stream, false};
    return skrt_launch_all(device, &queue, result);
}

/* ------------------------------------------------------------------ a core ---- */

/* A core begins, or goes on without a stack; whether it has finished (core_run of devices). */
static bool skrt_launch_core_run(struct skrt_core *core)
{
    const struct skrt_fiber *fiber = core->fiber;
    const struct skrt_launch *launch = core->job->launch;
    if (!core->rows)
        skrt_sched_let_go(core->worker);
    if (core->rows) {
        skrt_rows_go_on(core);
    } else if (launch->entry) {
        launch->entry(core);
    } else if (launch->parts[core->type].fn) { /* a sub-kernel that is launched alone */
        skrt_record(core, SKRT_BEGIN, SKRT_PROFILE_KERNEL);
        skrt_record(core, SKRT_BEGIN, SKRT_PROFILE_OP);
        skrt_call(core, &launch->parts[core->type], &launch->part_sites[core->type]);
        skrt_record(core, SKRT_END, SKRT_PROFILE_OP);
        skrt_record(core, SKRT_END, SKRT_PROFILE_KERNEL);
    }
    if (fiber->worker->core != core)
        return false;
    assert(!core->call && !core->sync);
    skrt_core_enter(core); /* one that was stopped does not finish */
    return true;
}

/* ----------------------------------------------------------------------------- devices ---- */

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
