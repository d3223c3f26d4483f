/* Barriers over cores of one type: those of entries, and those that sub-kernels have inside one
 * call, which are made when a core comes to them.
 *
 * A barrier counts its cores by how many rounds they have arrived at. The first round that is not
 * complete becomes so when no core is left that has arrived at those before it only; then its
 * waiters are ready. An arrival costs O(1), a round O(waiters).
 *
 * Bulk: a core that is released, and whose rows up to the next await are only hints, its arrival
 * and calls that leave it out, would execute them and wait again. It is not run: it is counted with
 * the others of its kind, and goes on when a row has something for it. So a round in which most
 * cores do nothing costs O(cores that do something). */
#include <string.h>

#include "backend/runtime/core.h"
#include "backend/runtime/instructions.h"
#include "backend/runtime/race.h"

/* ------------------------------------------------------------------- counting ---- */

void skrt_barrier_init(struct skrt_barrier *barrier, uint32_t size)
{
    memset(barrier, 0, sizeof *barrier);
    barrier->size = size;
    barrier->open = true;
    barrier->at[0] = (uint16_t)size;
}

/* `n` cores that have arrived at all rounds before this one arrive at it. */
static void count_arrivals(struct skrt_barrier *barrier, uint64_t round, uint32_t n)
{
    uint16_t *from = &barrier->at[round % SKRT_ROUNDS];
    assert(round >= barrier->complete && *from >= n);
    barrier->at[(round + 1) % SKRT_ROUNDS] += (uint16_t)n;
    *from -= (uint16_t)n;
}

/* ---------------------------------------------------------------- looking ahead ---- */

/* The rows up to the next await. */
struct ahead {
    uint64_t row;   /* after it */
    uint64_t calls; /* of them */
    uint32_t reach; /* all cores from this index on only arrive */
};

/* Whether it is legal to skip the call on cores that it leaves out. */
static bool look_at_call(const struct skrt_core *core, const struct skrt_row *row,
                         struct ahead *ahead)
{
    char why[128];
    const struct skrt_launch *launch = core->job->launch;
    const struct skrt_call call = skrt_row_call(core, core->rows, row);
    if (row->early || skrt_call_misfit(launch, core->type, &call, why, sizeof why))
        return false;
    uint32_t cores = skrt_call_cores(launch, &call, core->type);
    ahead->reach = cores > ahead->reach ? cores : ahead->reach;
    ahead->calls++;
    return true;
}

/* False where all cores have something to execute. */
static bool look_ahead(const struct skrt_core *core, uint64_t from, struct ahead *ahead)
{
    const struct skrt_row_program *program = &core->rows->programs[core->type];
    bool arrives = false;
    *ahead = (struct ahead){from, 0, 0};
    while (ahead->row < program->n_rows) {
        const struct skrt_row *row = &program->rows[ahead->row++];
        switch ((enum skrt_row_op)row->op) {
        case SKRT_ROW_hint:
        case SKRT_ROW_pipe_barrier: break;
        case SKRT_ROW_call:
            if (!look_at_call(core, row, ahead))
                return false;
            break;
        case SKRT_ROW_arrive:
            if (arrives || row->numbers[0] != core->type)
                return false;
            arrives = true;
            break;
        case SKRT_ROW_await: return arrives && row->numbers[0] == core->type;
        default: return false;
        }
    }
    return false;
}

/* ----------------------------------------------------------------------- bulk ---- */

/* Whether a core that is released may join the bulk: it has no stack, is in no call, and is at no
 * round that it has not awaited. */
static bool may_join(const struct skrt_core *core)
{
    const struct skrt_job *job = core->job;
    return core->rows && !core->fiber && !job->race && !job->launch->records &&
           core->arrived == core->awaited;
}

/* They are at the last await. */
static void end_bulk(struct skrt_barrier *barrier, struct skrt_core_list *list)
{
    struct skrt_bulk *bulk = &barrier->bulk;
    for (struct skrt_core *core; (core = skrt_list_pop(&bulk->cores)) != NULL;) {
        const struct skrt_row *row = &core->rows->programs[core->type].rows[bulk->row - 1];
        core->row = bulk->row;
        core->arrived += bulk->rounds;
        core->awaited += bulk->rounds;
        core->calls += bulk->calls;
        atomic_store_explicit(&core->site, &core->rows->sites[row->site], memory_order_relaxed);
        skrt_list_push(list, core);
    }
    *bulk = (struct skrt_bulk){.n = 0};
}

/* No core passes an instruction from then on: those that are released halt where they are. */
static bool is_stopped(const struct skrt_core *core)
{
    return atomic_load_explicit(&core->device->stopped, memory_order_relaxed);
}

/* The bulk is released: it advances to the next await, or comes to the list. */
static void advance_bulk(struct skrt_barrier *barrier, struct skrt_core_list *list)
{
    struct skrt_bulk *bulk = &barrier->bulk;
    const struct skrt_core *first = bulk->cores.first;
    struct ahead ahead;
    if (!first)
        return;
    if (is_stopped(first) || !look_ahead(first, bulk->row, &ahead) || ahead.reach > bulk->least) {
        end_bulk(barrier, list);
        return;
    }
    bulk->row = ahead.row;
    bulk->calls += ahead.calls;
    bulk->rounds++;
    count_arrivals(barrier, barrier->complete, bulk->n);
}

/* A core passes the rows ahead of it, and joins those that have. What was counted of all of them so
 * far is counted of it as well when they end, so that it is taken off here. */
static void join_bulk(struct skrt_barrier *barrier, struct skrt_core *core,
                      const struct ahead *ahead)
{
    struct skrt_bulk *bulk = &barrier->bulk;
    core->arrived += 1 - bulk->rounds;
    core->awaited += 1 - bulk->rounds;
    core->calls += ahead->calls - bulk->calls;
    if (bulk->n++ == 0 || core->index < bulk->least)
        bulk->least = core->index;
    bulk->row = ahead->row;
    skrt_list_push(&bulk->cores, core);
}

/* Of cores that are released, those with nothing to execute up to the next await join the bulk; the
 * others become ready. */
static void release_list(struct skrt_barrier *barrier, struct skrt_core_list *list)
{
    struct skrt_bulk *bulk = &barrier->bulk;
    const struct skrt_rows *rows = list->first->rows;
    uint64_t row = list->first->row;
    struct ahead ahead;
    uint32_t n = 0;
    bool can = !is_stopped(list->first) && may_join(list->first) &&
               look_ahead(list->first, row, &ahead) &&
               ahead.reach < list->first->job->launched[list->first->type] &&
               (bulk->n == 0 || bulk->row == ahead.row);
    for (struct skrt_core *core; (core = skrt_list_pop(list)) != NULL;) {
        if (!can || core->index < ahead.reach || !may_join(core) || core->rows != rows ||
            core->row != row) {
            skrt_sched_ready(core);
            continue;
        }
        join_bulk(barrier, core, &ahead);
        n++;
    }
    if (n > 0)
        count_arrivals(barrier, barrier->complete, n);
}

/* Completes the rounds that all have arrived at. The bulk may be the last to arrive at the next. */
static void complete_rounds(struct skrt_barrier *barrier)
{
    while (barrier->open && barrier->at[barrier->complete % SKRT_ROUNDS] == 0) {
        struct skrt_core_list list = barrier->waiters;
        barrier->waiters = (struct skrt_core_list){NULL, NULL};
        barrier->complete++;
        advance_bulk(barrier, &list);
        if (list.first)
            release_list(barrier, &list);
    }
}

void skrt_barrier_end_bulk(struct skrt_barrier *barrier)
{
    end_bulk(barrier, &barrier->waiters);
}

/* ----------------------------------------------------------- barriers of entries ---- */

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
    struct skrt_barrier *barrier = &core->job->barriers[core->type];
    count_arrivals(barrier, core->arrived++, 1);
    complete_rounds(barrier);
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
    struct skrt_barrier *barrier = &core->job->barriers[core->type];
    if (barrier->complete >= round)
        return true;
    assert(round == barrier->complete + 1);
    skrt_list_push(&barrier->waiters, core);
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

/* --------------------------------------------------------- barriers inside of calls ---- */

/* The point of the core's current call, which it makes if it is the first to come there. */
static struct skrt_sync_point *point_of(const struct skrt_core *core, const struct skrt_call *call)
{
    struct skrt_job *job = core->job;
    struct skrt_sync_point *point = job->points[core->type];
    while (point && point->number != core->calls)
        point = point->next;
    if (point)
        return point;
    point = job->free_points;
    assert(point); /* there are as many as cores */
    job->free_points = point->next;
    *point = (struct skrt_sync_point){job->points[core->type], core->calls, *call, false, 0, {0}};
    job->points[core->type] = point;
    skrt_barrier_init(&point->barrier, skrt_call_cores(job->launch, call, core->type));
    point->barrier.fed =
        job->launch->full_barriers && point->barrier.size < job->launched[core->type];
    point->barrier.open = !point->barrier.fed;
    return point;
}

static void point_leave(const struct skrt_core *core, struct skrt_sync_point *point)
{
    struct skrt_sync_point **link = &core->job->points[core->type];
    assert(point->users > 0);
    if (--point->users > 0)
        return;
    while (*link != point)
        link = &(*link)->next;
    *link = point->next;
    point->next = core->job->free_points;
    core->job->free_points = point;
}

/* The core has come to the barrier of its call for the first time. */
static void point_join(struct skrt_core *core)
{
    struct skrt_sync_point *point = point_of(core, core->call);
    if (!skrt_call_alike(&point->call, core->call))
        skrt_core_fail(core, SKRT_MISUSE, "this is call %llu on cores that differ in its blocks",
                       (unsigned long long)core->calls);
    if (!point->joined)
        point->users += point->barrier.size;
    point->joined = true;
    core->sync = point;
}

void skrt_sync_point_leave(struct skrt_core *core)
{
    skrt_core_enter(core);
    point_leave(core, core->sync);
    core->sync = NULL;
    skrt_core_leave(core);
}

/* The barrier over the call's cores of one type. No core is a round ahead of another, since each
 * waits for all. */
static void sync_point_pass(struct skrt_core *core)
{
    skrt_core_enter(core);
    if (!core->sync)
        point_join(core);
    struct skrt_barrier *barrier = &core->sync->barrier;
    uint64_t round = barrier->complete;
    count_arrivals(barrier, round, 1);
    complete_rounds(barrier);
    if (barrier->complete > round) {
        skrt_core_leave(core);
        return;
    }
    skrt_list_push(&barrier->waiters, core);
    skrt_core_block(core, SKRT_WAIT_SYNC_ALL);
}

void skrt_kernel_sync_all(struct skrt_core *core)
{
    if (!core->call)
        skrt_core_misuse(core, "a barrier of sub-kernels outside of one");
    skrt_core_begin(core, skrt_core_call_site(core));
    if (core->arrived != core->awaited)
        skrt_core_misuse(core,
                         "its full barrier has met an arrival of the entry that is not awaited");
    /* The sub-kernel has parts on both core types of a launch with both. */
    bool mixed = !core->call->flat && core->call->aivs > 0 && core->job->launch->aivs > 0;
    if (mixed)
        skrt_flag_meet(core);
    if (mixed && core->type == SKRT_AIV)
        return;
    sync_point_pass(core);
    if (mixed)
        skrt_flag_part(core);
}

/* Cores that take part in the barriers of calls that leave them out (docs/device-model.md, "Fed
 * barriers"). Each call of a core type has counters in the workspace; they are read and written
 * under the device's lock. */

enum { COUNTERS = sizeof(struct skrt_feed_counters) };
_Static_assert(COUNTERS == 64, "skrt.h tells launchers that a block needs two");

/* The half of the workspace that the core's type has: counters, a multiple of `parts` of them. */
static char *type_half(struct skrt_core *core, uint64_t slot, uint64_t size, uint64_t parts)
{
    const struct skrt_launch *launch = core->job->launch;
    uint64_t address = slot < launch->n_params ? launch->params[slot] : 0;
    if (address != 0 && address % sizeof(uint64_t) == 0 && size > 0 &&
        size % (COUNTERS * SKRT_CORE_TYPES * parts) == 0)
        return (char *)(uintptr_t)address + (core->type == SKRT_AIV ? size / 2 : 0);
    skrt_core_misuse(core,
                     "slot %llu does not hold the address of a workspace, or %llu bytes are none",
                     (unsigned long long)slot, (unsigned long long)size);
}

void skrt_clear_workspace(struct skrt_core *core, uint64_t slot, uint64_t size,
                          const struct skrt_site *site)
{
    skrt_core_begin(core, site);
    uint32_t blocks = core->job->launch->blocks;
    uint64_t part = size / 2 / blocks;
    char *half = type_half(core, slot, size, blocks);
    if (core->sub == 0)
        memset(half + core->block * part, 0, part);
}

static struct skrt_feed_counters *counters_of(struct skrt_core *core, const struct skrt_feed *feed)
{
    char *half = type_half(core, feed->slot, feed->size, 1);
    if (feed->index >= feed->size / SKRT_CORE_TYPES / COUNTERS)
        skrt_core_misuse(core, "the workspace has no counters for call %llu",
                         (unsigned long long)feed->index);
    return (struct skrt_feed_counters *)(void *)half + feed->index;
}

/* Counters that cannot be: the workspace was not cleared, or is in other use. */
static void check_counters(struct skrt_core *core, const struct skrt_feed_counters *counters,
                           uint32_t included)
{
    assert(core->device->locked);
    uint32_t idle = core->job->launched[core->type] - included;
    if (counters->begun <= included && counters->ended <= counters->begun && counters->idle <= idle)
        return;
    skrt_core_fail(core, SKRT_MISUSE,
                   "%llu of %u cores have begun, %llu have ended, %llu of %u others take part: the "
                   "workspace was not cleared, or the call is fed twice",
                   (unsigned long long)counters->begun, included,
                   (unsigned long long)counters->ended, (unsigned long long)counters->idle, idle);
}

/* Those that wait for the end of this call go on. */
static void wake_feeders(struct skrt_device *device, const struct skrt_feed_counters *counters)
{
    struct skrt_core *core = device->feeders.first, *next;
    device->feeders = (struct skrt_core_list){NULL, NULL};
    for (; core; core = next) {
        next = core->next;
        if (core->feed == counters)
            skrt_sched_ready(core);
        else
            skrt_list_push(&device->feeders, core);
    }
}

/* Returns whether the core waits, and is without the lock then. */
static bool feed_complement(struct skrt_core *core, struct skrt_feed_counters *counters,
                            const struct skrt_call *call, uint32_t included)
{
    uint32_t others = core->job->launched[core->type] - included;
    bool last = ++counters->idle == others;
    if (!core->job->launch->full_barriers || counters->ended == included)
        return false;
    core->feed = counters;
    /* The last one takes part in the barriers of the call, unless it includes all cores. */
    struct skrt_sync_point *point = last ? point_of(core, call) : NULL;
    bool fed = point && point->barrier.fed;
    if (fed) {
        point->users++;
        point->barrier.open = true;
        complete_rounds(&point->barrier);
    }
    skrt_list_push(&core->device->feeders, core);
    skrt_core_block(core, SKRT_WAIT_FEED);
    core->feed = NULL;
    if (fed) {
        skrt_core_enter(core);
        point_leave(core, point);
        skrt_core_leave(core);
    }
    return true;
}

void skrt_feed_sync(struct skrt_core *core, enum skrt_feed_step step, const struct skrt_feed *feed,
                    const struct skrt_site *site)
{
    skrt_core_begin(core, site);
    struct skrt_feed_counters *counters = counters_of(core, feed);
    uint32_t included = skrt_call_cores(core->job->launch, feed->call, core->type);
    if (skrt_core_included(core, feed->call) == (step == SKRT_FEED_COMPLEMENT))
        return;
    skrt_core_enter(core);
    check_counters(core, counters, included);
    bool waited = false;
    switch (step) {
    case SKRT_FEED_BEGIN:
        if (core->feed)
            skrt_core_fail(core, SKRT_MISUSE, "another call is fed and has not ended");
        core->feed = counters;
        counters->begun++;
        break;
    case SKRT_FEED_END:
        if (core->feed != counters)
            skrt_core_fail(core, SKRT_MISUSE, "`feed_sync begin` of this call is missing");
        core->feed = NULL;
        if (++counters->ended == included)
            wake_feeders(core->device, counters);
        break;
    case SKRT_FEED_COMPLEMENT:
        waited = feed_complement(core, counters, feed->call, included);
        break;
    }
    if (waited)
        return;
    check_counters(core, counters, included);
    skrt_core_leave(core);
}
