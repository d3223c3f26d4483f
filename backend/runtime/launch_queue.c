/* The queue of launches: which begins, which core of the device each core of a launch gets, which
 * has ended. Streams run concurrently, each one launch after another.
 *
 * A launch begins when the one before it on its stream has ended and the events that it waits for
 * have come. Its blocks begin one by one, wherever there are places: those of the launch that began
 * first, or (`turns`) one of each launch in turn, so that two may keep what both need. A launch
 * gives all its places back at its end, or (`waves`) those of each block when that has ended. */
#include "backend/runtime/launch_queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/runtime/instructions.h"
#include "backend/runtime/race.h"
#include "backend/runtime/report.h"
#include "backend/runtime/scheduler.h"

/* ------------------------------------------------------------------------------ places ---- */

/* Places of one block, by the index of its core among those of the type in it. */
struct block_places {
    uint32_t at[SKRT_CORE_TYPES][SKRT_MAX_AIVS];
};

static bool is_free(const struct skrt_device *device, enum skrt_core_type type, uint32_t place)
{
    return !device->holders[type][place];
}

/* Where the places that a launch takes begin. */
static uint32_t base_of(const struct skrt_device *device, const struct skrt_launch *launch,
                        enum skrt_core_type type)
{
    return launch->apart ? device->capacity[type] : 0;
}

/* The first that is free from a place on, or the end. */
static uint32_t next_free(const struct skrt_device *device, enum skrt_core_type type, uint32_t from,
                          uint32_t end)
{
    while (from < end && !is_free(device, type, from))
        from++;
    return from;
}

/* The first of all that is free. */
static uint32_t lowest_free(struct skrt_device *device, enum skrt_core_type type, uint32_t base,
                            uint32_t end)
{
    if (base > 0)
        return next_free(device, type, base, end);
    return device->lowest[type] = next_free(device, type, device->lowest[type], end);
}

/* `n` places of one type; false where there are not so many. */
static bool find_any(struct skrt_device *device, enum skrt_core_type type, uint32_t base,
                     uint32_t n, uint32_t *places)
{
    uint32_t end = base + device->capacity[type];
    uint32_t at = lowest_free(device, type, base, end);
    for (uint32_t i = 0; i < n; i++, at = next_free(device, type, at + 1, end)) {
        if (at >= end)
            return false;
        places[i] = at;
    }
    return true;
}

/* The AIVs of an AI core are where its AIC is, in pairs. */
static bool find_ai_core(struct skrt_device *device, uint32_t base, uint32_t aivs,
                         struct block_places *places)
{
    uint32_t end = base + device->capacity[SKRT_AIC];
    uint32_t aic = lowest_free(device, SKRT_AIC, base, end);
    for (; aic < end; aic = next_free(device, SKRT_AIC, aic + 1, end)) {
        uint32_t n = 0;
        for (uint32_t aiv = SKRT_MAX_AIVS * aic; aiv < SKRT_MAX_AIVS * (aic + 1) && n < aivs; aiv++)
            if (is_free(device, SKRT_AIV, aiv))
                places->at[SKRT_AIV][n++] = aiv;
        places->at[SKRT_AIC][0] = aic;
        if (n == aivs)
            return true;
    }
    return false;
}

static bool find_block(struct skrt_device *device, const struct skrt_launch *launch,
                       struct block_places *places)
{
    bool grouped = device->capacity[SKRT_AIV] == SKRT_MAX_AIVS * device->capacity[SKRT_AIC];
    uint32_t aics = base_of(device, launch, SKRT_AIC), aivs = base_of(device, launch, SKRT_AIV);
    if (grouped && launch->aics && launch->aivs)
        return find_ai_core(device, aics, launch->aivs, places);
    return find_any(device, SKRT_AIC, aics, launch->aics, places->at[SKRT_AIC]) &&
           find_any(device, SKRT_AIV, aivs, launch->aivs, places->at[SKRT_AIV]);
}

static void take(struct skrt_core *core, uint32_t place)
{
    struct skrt_device *device = core->device;
    assert(is_free(device, core->type, place));
    device->holders[core->type][place] = core->job;
    core->place = place;
}

/* Gives the cores of the job's next block their places, and counts the block; false where there are
 * none. */
static bool skrt_places_take(struct skrt_job *job)
{
    struct block_places places;
    const struct skrt_launch *launch = job->launch;
    assert(job->device->locked && job->placed < launch->blocks);
    if (launch->apart && job->device->apart && job->device->apart != job)
        return false;
    if (!find_block(job->device, launch, &places))
        return false;
    if (launch->apart)
        job->device->apart = job;
    for (uint32_t i = 0; i < launch->aics; i++)
        take(&job->cores[SKRT_AIC][job->placed * launch->aics + i], places.at[SKRT_AIC][i]);
    for (uint32_t i = 0; i < launch->aivs; i++)
        take(&job->cores[SKRT_AIV][job->placed * launch->aivs + i], places.at[SKRT_AIV][i]);
    job->placed++;
    return true;
}

static void skrt_places_leave(struct skrt_core *core)
{
    struct skrt_device *device = core->device;
    assert(device->locked && device->holders[core->type][core->place] == core->job);
    device->holders[core->type][core->place] = NULL;
    if (core->place < device->lowest[core->type]) /* none of those apart */
        device->lowest[core->type] = core->place;
    core->place = SKRT_NO_PLACE;
}

/* ---------------------------------------------------------------- cores ---- */

static uint32_t cores_per_block(const struct skrt_job *job, enum skrt_core_type type)
{
    return type == SKRT_AIC ? job->launch->aics : job->launch->aivs;
}

static void core_init(struct skrt_job *job, enum skrt_core_type type, uint32_t index)
{
    struct skrt_core *core = &job->cores[type][index];
    uint32_t per_block = cores_per_block(job, type);
    memset(core, 0, sizeof *core);
    core->device = job->device;
    core->job = job;
    core->place = SKRT_NO_PLACE;
    core->type = type;
    core->index = index;
    core->block = index / per_block;
    core->sub = index % per_block;
    core->point.next = job->free_points;
    job->free_points = &core->point;
    core->state = SKRT_CORE_NEW;
}

/* Lets the threads have the cores of blocks that have got their places, those of one type before
 * those of the other. The time of a launch runs from its first block on. */
static void begin_blocks(struct skrt_job *job)
{
    if (job->ready == job->placed)
        return;
    if (job->ready == 0)
        job->begin = skrt_clock();
    for (int type = 0; type < SKRT_CORE_TYPES; type++) {
        uint32_t per_block = cores_per_block(job, (enum skrt_core_type)type);
        for (uint32_t i = job->ready * per_block; i < job->placed * per_block; i++)
            skrt_sched_ready(&job->cores[type][i]);
    }
    job->ready = job->placed;
    skrt_sched_call(job->device);
}

static bool give_one(struct skrt_job *job)
{
    return job->placed < job->launch->blocks && skrt_places_take(job);
}

/* As long as there is a block that finds places. */
static void give_places(struct skrt_device *device)
{
    for (bool any = true; any;) {
        any = false;
        for (struct skrt_job *job = device->running; job; job = job->next) {
            bool given = give_one(job);
            any = any || given;
            while (given && !device->queue->turns)
                given = give_one(job);
        }
    }
    for (struct skrt_job *job = device->running; job; job = job->next)
        begin_blocks(job);
}

/* ------------------------------------------------------------ a launch begins ---- */

static const struct skrt_queued *queued_of(const struct skrt_job *job)
{
    const struct skrt_queue *queue = job->device->queue;
    assert(job->at < queue->n_launches);
    return &queue->launches[job->at];
}

static void go_to_next(struct skrt_job *job, uint32_t from)
{
    const struct skrt_queue *queue = job->device->queue;
    job->at = from;
    while (job->at < queue->n_launches && queue->launches[job->at].stream != job->stream)
        job->at++;
}

static bool may_begin(const struct skrt_job *job)
{
    if (job->launch || job->at >= job->device->queue->n_launches)
        return false;
    const struct skrt_queued *queued = queued_of(job);
    for (uint32_t i = 0; i < queued->n_waits; i++)
        if (atomic_load((const _Atomic uint64_t *)queued->waits[i].word) == 0)
            return false;
    return true;
}

static void launch_describe(struct skrt_job *job)
{
    job->launch_copy = queued_of(job)->launch;
    if (!job->launch_copy.name)
        job->launch_copy.name = "(no name)";
    for (int type = 0; type < SKRT_CORE_TYPES; type++)
        if (!job->launch_copy.part_sites[type].text)
            job->launch_copy.part_sites[type] =
                (struct skrt_site){"sub-kernel", job->launch_copy.name};
    job->launch = &job->launch_copy;
    job->placed = job->ready = job->unfinished = 0;
    job->free_points = NULL;
    for (int type = 0; type < SKRT_CORE_TYPES; type++) {
        job->launched[type] = job->launch->blocks * cores_per_block(job, (enum skrt_core_type)type);
        assert(job->launched[type] <= job->room[type]);
        job->unfinished += job->launched[type];
        job->points[type] = NULL;
        skrt_barrier_init(&job->barriers[type], job->launched[type]);
    }
}

static struct skrt_job **find_running(struct skrt_device *device, const struct skrt_job *job)
{
    struct skrt_job **link = &device->running;
    while (*link && *link != job)
        link = &(*link)->next;
    return link;
}

/* The state of a launch before its first instruction. */
static void launch_begin(struct skrt_job *job)
{
    launch_describe(job);
    job->next = NULL;
    *find_running(job->device, NULL) = job;
    for (int type = 0; type < SKRT_CORE_TYPES; type++)
        for (uint32_t i = 0; i < job->launched[type]; i++)
            core_init(job, (enum skrt_core_type)type, i);
    job->begin = skrt_clock();
    if (job->launch->race && !skrt_race_open(job))
        skrt_sched_stop(job->device, job, SKRT_MISUSE, skrt_race_no_memory);
}

void skrt_queue_advance(struct skrt_device *device)
{
    assert(device->locked && device->queue);
    for (uint32_t i = 0; i < device->n_jobs && !atomic_load(&device->stopped); i++)
        if (may_begin(&device->jobs[i]))
            launch_begin(&device->jobs[i]);
    if (!atomic_load(&device->stopped))
        give_places(device);
}

/* -------------------------------------------------------------- a launch ends ---- */

/* What is said of a launch whose cores have all ended. */
static void conclude(struct skrt_job *job, struct skrt_result *result)
{
    char cause[SKRT_CAUSE_SIZE];
    bool releases = skrt_flag_left_set(job);
    result->status = SKRT_OK;
    if (releases || skrt_arrivals_left(job)) {
        result->status = SKRT_LEFT_SET;
        snprintf(cause, sizeof cause, "all cores have finished, but %s are left over",
                 releases ? "releases" : "arrivals");
    } else if (skrt_race_found(job)) {
        result->status = SKRT_RACE;
        skrt_race_cause(job, cause, sizeof cause);
    }
    if (result->status != SKRT_OK)
        result->report = skrt_report_launch(job, result->status, cause);
}

static void give_times(struct skrt_job *job)
{
    struct skrt_result *result = &job->device->results[job->at];
    result->begin = (double)(job->begin - job->device->begin) * 1e-9;
    result->seconds = (double)(skrt_clock() - job->begin) * 1e-9;
}

static void launch_end(struct skrt_job *job)
{
    const struct skrt_queued *queued = queued_of(job);
    give_times(job);
    conclude(job, &job->device->results[job->at]);
    skrt_race_close(job);
    job->launch = NULL;
    *find_running(job->device, job) = job->next;
    for (uint32_t i = 0; i < queued->n_sends; i++)
        skrt_sched_send_event(job->device, (_Atomic uint64_t *)queued->sends[i].word);
    go_to_next(job, job->at + 1);
}

static bool block_has_ended(const struct skrt_job *job, uint32_t block)
{
    for (int type = 0; type < SKRT_CORE_TYPES; type++) {
        uint32_t n = cores_per_block(job, (enum skrt_core_type)type);
        for (uint32_t i = block * n; i < (block + 1) * n; i++)
            if (!job->cores[type][i].ended)
                return false;
    }
    return true;
}

static void leave_block(struct skrt_job *job, uint32_t block)
{
    for (int type = 0; type < SKRT_CORE_TYPES; type++) {
        uint32_t n = cores_per_block(job, (enum skrt_core_type)type);
        for (uint32_t i = block * n; i < (block + 1) * n; i++)
            if (job->cores[type][i].place != SKRT_NO_PLACE)
                skrt_places_leave(&job->cores[type][i]);
    }
}

static bool is_over(const struct skrt_device *device)
{
    for (uint32_t i = 0; i < device->n_jobs; i++)
        if (device->jobs[i].launch || device->jobs[i].at < device->queue->n_launches)
            return false;
    return true;
}

/* The launcher may go on. */
static void settle(struct skrt_device *device)
{
    device->settled = true;
    device->wakes_launcher = true;
}

void skrt_queue_core_ended(struct skrt_core *core)
{
    struct skrt_job *job = core->job;
    assert(core->device->locked && job->unfinished > 0);
    core->ended = true;
    job->unfinished--;
    if (atomic_load(&core->device->stopped))
        return; /* the launcher may have left already */
    if (job->unfinished == 0) {
        for (uint32_t block = 0; block < job->placed; block++)
            leave_block(job, block);
        if (job->device->apart == job)
            job->device->apart = NULL;
        launch_end(job);
    } else if (job->launch->waves && block_has_ended(job, core->block))
        leave_block(job, core->block);
    else
        return;
    skrt_queue_advance(core->device);
    if (is_over(core->device))
        settle(core->device);
}

/* ---------------------------------------------------------------- coming to rest ---- */

/* Whether a core waits for what somebody outside may send. */
static bool waits_for_others(const struct skrt_device *device)
{
    for (const struct skrt_core *core = device->event_waiters.first; core; core = core->next)
        if (core->job->launch->timeout_ms > 0 && !core->job->launch->closed)
            return true;
    return false;
}

static const char *deadlock_of_one(const struct skrt_device *device)
{
    if (!device->event_waiters.first)
        return "every unfinished core waits, and none can release another";
    if (device->jobs[0].launch && device->jobs[0].launch->closed)
        return "every unfinished core waits, some for an event or a tiling that nothing in this "
               "launch can send";
    return "every unfinished core waits, some for an event or a tiling that nothing in this launch "
           "can send (give it a timeout to wait for others)";
}

static const char *deadlock_of_many(const struct skrt_device *device)
{
    for (uint32_t i = 0; i < device->n_jobs; i++)
        if (device->jobs[i].launch && device->jobs[i].placed < device->jobs[i].launch->blocks)
            return "no launch goes on: there is one that needs cores which others keep";
    return "no launch goes on: each waits for others, or for itself";
}

/* Who reports it: the first launch that has begun, or else that has not. */
static const struct skrt_job *first_stuck(const struct skrt_device *device)
{
    const struct skrt_job *waits = NULL;
    for (uint32_t i = 0; i < device->n_jobs; i++) {
        if (device->jobs[i].launch)
            return &device->jobs[i];
        if (!waits && device->jobs[i].at < device->queue->n_launches)
            waits = &device->jobs[i];
    }
    return waits;
}

/* Nothing is running and nothing is ready. Whether that is the end of the queue, and which. */
void skrt_queue_came_to_rest(struct skrt_device *device)
{
    assert(device->locked);
    if (!device->queue || device->settled)
        return;
    if (!atomic_load(&device->stopped) && !is_over(device)) {
        if (waits_for_others(device))
            return;
        skrt_sched_stop(device, first_stuck(device), SKRT_DEADLOCK,
                        device->queue->n_launches == 1 ? deadlock_of_one(device)
                                                       : deadlock_of_many(device));
    }
    settle(device);
}

/* ---------------------------------------------------------- opening and closing ---- */

static bool reserve_jobs(struct skrt_device *device, uint32_t n)
{
    if (n <= device->job_room)
        return true;
    struct skrt_job *jobs = realloc(device->jobs, n * sizeof *jobs);
    if (!jobs)
        return false;
    memset(jobs + device->job_room, 0, (n - device->job_room) * sizeof *jobs);
    device->jobs = jobs;
    device->job_room = n;
    return true;
}

static bool reserve_cores(struct skrt_job *job, enum skrt_core_type type, uint32_t n)
{
    if (n <= job->room[type])
        return true;
    free(job->cores[type]);
    job->cores[type] =
        aligned_alloc(_Alignof(struct skrt_core), (size_t)n * sizeof *job->cores[type]);
    job->room[type] = job->cores[type] ? n : 0;
    return job->cores[type] != NULL;
}

/* Room for the largest launch of the stream; adds the stacks that it needs. */
static bool job_open(struct skrt_job *job, uint64_t *stacks)
{
    const struct skrt_queue *queue = job->device->queue;
    uint32_t aics = 0, aivs = 0;
    for (uint32_t i = 0; i < queue->n_launches; i++) {
        const struct skrt_launch *launch = &queue->launches[i].launch;
        if (queue->launches[i].stream != job->stream)
            continue;
        uint32_t n_aics = launch->blocks * launch->aics, n_aivs = launch->blocks * launch->aivs;
        aics = n_aics > aics ? n_aics : aics;
        aivs = n_aivs > aivs ? n_aivs : aivs;
    }
    *stacks += (uint64_t)aics + aivs;
    return reserve_cores(job, SKRT_AIC, aics) && reserve_cores(job, SKRT_AIV, aivs);
}

bool skrt_queue_open(struct skrt_device *device, const struct skrt_queue *queue,
                     struct skrt_result *results)
{
    uint64_t stacks = 0;
    assert(!device->event_waiters.first && !device->feeders.first);
    if (!reserve_jobs(device, queue->n_streams))
        return false;
    device->queue = queue;
    device->results = results;
    device->running = NULL;
    device->apart = NULL;
    device->n_jobs = queue->n_streams;
    for (uint32_t i = 0; i < device->n_jobs; i++) {
        struct skrt_job *job = &device->jobs[i];
        job->device = device;
        job->stream = i;
        job->launch = NULL;
        go_to_next(job, 0);
        if (!job_open(job, &stacks))
            return false;
    }
    return skrt_sched_map_stacks(device, stacks);
}

void skrt_queue_close(struct skrt_device *device)
{
    for (uint32_t i = 0; i < device->n_jobs; i++) {
        if (device->jobs[i].launch)
            give_times(&device->jobs[i]);
        if (device->settled)
            skrt_race_close(&device->jobs[i]);
    }
    device->queue = NULL;
}
