/* Barriers that sub-kernels have inside one call: as those of entries, with a share for each home,
 * but made when a core comes to them. */
#include <string.h>

#include "backend/runtime/instructions.h"
#include "backend/runtime/shape.h"

/* What `number` of a point has beside a call's number while that is not everybody's yet. */
static const uint64_t unpublished = (uint64_t)1 << 63;
enum { PLACE_BITS = 16 };
_Static_assert(SKRT_MAX_CORES < 1 << PLACE_BITS, "a place and a call's number share a word");

/* ------------------------------------------------------------------ points ----
 *
 * Several homes may come to a call at a time, and one of them makes its point: it takes a free one,
 * fills it in and says in `last` that it is the call's. That fails where another call, or this one,
 * has got a point since `last` was read, and the points were looked through. So no call gets two.
 * Between `last` and the point's own number, which is then made everybody's, others may come: they
 * do that themselves before they look.
 *
 * What is filled in is released by `last`, which all acquire before they look; and by the number
 * that is everybody's, which is written by who has acquired it. */

static uint64_t word_of(uint64_t number, uint32_t place)
{
    assert(number >> (64 - PLACE_BITS) == 0);
    return number << PLACE_BITS | (place + 1);
}

/* The point that was made last is everybody's. */
static void publish(struct skrt_sync_points *points, uint64_t last)
{
    if (last == 0)
        return;
    uint64_t number = last >> PLACE_BITS, from = number | unpublished;
    struct skrt_sync_point *point = &points->all[(last & ((1 << PLACE_BITS) - 1)) - 1];
    atomic_compare_exchange_strong_explicit(&point->number, &from, number, memory_order_release,
                                            memory_order_relaxed);
}

/* The call's point; or NULL, and a free one in `free`. */
static struct skrt_sync_point *find(struct skrt_sync_points *points, uint64_t number,
                                    uint32_t *free)
{
    uint32_t used = atomic_load_explicit(&points->used, memory_order_relaxed);
    *free = used;
    for (uint32_t i = 0; i < used; i++) {
        uint64_t at = atomic_load_explicit(&points->all[i].number, memory_order_acquire);
        if (at == number)
            return &points->all[i];
        if (at == 0 && *free == used)
            *free = i;
    }
    return NULL;
}

/* Takes a free point for oneself; false where another has. What the home that has left it last did
 * there comes before. */
static bool take(struct skrt_sync_points *points, uint32_t place, uint64_t number)
{
    uint64_t free = 0;
    if (!atomic_compare_exchange_strong_explicit(&points->all[place].number, &free,
                                                 number | unpublished, memory_order_acquire,
                                                 memory_order_relaxed))
        return false;
    uint32_t used = atomic_load_explicit(&points->used, memory_order_relaxed);
    while (used <= place &&
           !atomic_compare_exchange_weak_explicit(&points->used, &used, place + 1,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
    return true;
}

static void fill_in(const struct skrt_core *core, struct skrt_sync_point *point,
                    const struct skrt_call *call)
{
    const struct skrt_job *job = core->job;
    struct skrt_barrier *barrier = &point->barrier;
    point->call = *call;
    memset(barrier, 0, sizeof *barrier);
    barrier->size = skrt_call_cores(job->launch, call, core->type);
    barrier->fed = job->launch->full_barriers && barrier->size < job->launched[core->type];
    barrier->homes = barrier->fed;
    atomic_store_explicit(&point->users, 0, memory_order_relaxed);
    for (uint32_t i = 0; i < core->device->n_homes; i++)
        barrier->homes += skrt_home_cores(job, core->type, barrier->size, i) > 0;
}

/* The point of the core's current call. The caller has to come to it before it can be complete. */
static struct skrt_sync_point *point_of(const struct skrt_core *core, const struct skrt_call *call)
{
    struct skrt_sync_points *points = &core->job->points[core->type];
    for (;;) {
        uint32_t place;
        uint64_t last = atomic_load_explicit(&points->last, memory_order_acquire);
        publish(points, last);
        struct skrt_sync_point *point = find(points, core->calls, &place);
        if (point)
            return point;
        if (place == core->job->launched[core->type] || !take(points, place, core->calls))
            continue; /* somebody else is ahead */
        point = &points->all[place];
        fill_in(core, point, call);
        uint64_t mine = word_of(core->calls, place);
        if (atomic_compare_exchange_strong_explicit(&points->last, &last, mine,
                                                    memory_order_acq_rel, memory_order_relaxed)) {
            publish(points, mine);
            return point;
        }
        atomic_store_explicit(&point->number, 0, memory_order_release);
    }
}

static void point_use(struct skrt_sync_point *point)
{
    atomic_fetch_add_explicit(&point->users, 1, memory_order_relaxed);
}

/* A home, or those that feed, have left it: the last one frees it. */
static void point_leave(struct skrt_sync_point *point)
{
    if (atomic_fetch_sub_explicit(&point->users, 1, memory_order_acq_rel) == 1)
        atomic_store_explicit(&point->number, 0, memory_order_release);
}

/* ------------------------------------------------------------------ shares ---- */

static struct skrt_part *part_of(const struct skrt_core *core)
{
    return &core->job->parts[core->home - core->device->homes];
}

static void check_alike(struct skrt_core *core, const struct skrt_sync_point *point)
{
    if (!skrt_call_alike(&point->call, core->call))
        skrt_core_fail(core, SKRT_MISUSE, "this is call %llu on cores that differ in its blocks",
                       (unsigned long long)core->calls);
}

static struct skrt_sync_share *share_new(struct skrt_core *core)
{
    struct skrt_sync_point *point = point_of(core, core->call);
    check_alike(core, point);
    point_use(point);
    struct skrt_part *part = part_of(core);
    struct skrt_sync_share *share = part->free_shares;
    assert(share); /* there are as many as cores */
    part->free_shares = share->next;
    share->next = part->shares[core->type];
    part->shares[core->type] = share;
    share->point = point;
    share->number = core->calls;
    share->left = skrt_home_cores(core->job, core->type, point->barrier.size,
                                  (uint32_t)(core->home - core->device->homes));
    skrt_half_init(&share->half, &point->barrier, share->left);
    return share;
}

/* The core has come to the barrier of its call for the first time. */
static void share_join(struct skrt_core *core)
{
    struct skrt_sync_share *share = part_of(core)->shares[core->type];
    while (share && share->number != core->calls)
        share = share->next;
    if (share)
        check_alike(core, share->point);
    core->sync = share ? share : share_new(core);
}

static void share_free(struct skrt_core *core, struct skrt_sync_share *share)
{
    struct skrt_part *part = part_of(core);
    struct skrt_sync_share **link = &part->shares[core->type];
    assert(!share->half.waiters.first);
    while (*link != share)
        link = &(*link)->next;
    *link = share->next;
    share->next = part->free_shares;
    part->free_shares = share;
    point_leave(share->point);
}

void skrt_sync_point_leave(struct skrt_core *core)
{
    struct skrt_sync_share *share = core->sync;
    skrt_core_enter(core);
    assert(share->left > 0);
    core->sync = NULL;
    if (--share->left == 0)
        share_free(core, share);
    skrt_core_leave(core);
}

struct skrt_sync_point *skrt_sync_point_feed(struct skrt_core *core, const struct skrt_call *call)
{
    struct skrt_sync_point *point = point_of(core, call);
    if (!point->barrier.fed) /* for other cores the call is one that includes all */
        return NULL;
    point_use(point);
    skrt_barrier_feed(core, &point->barrier);
    return point;
}

void skrt_sync_point_unfeed(struct skrt_sync_point *point)
{
    point_leave(point);
}

/* The barrier over the call's cores of one type. Nobody is a round ahead of another, since each
 * waits for all. */
static void sync_point_pass(struct skrt_core *core)
{
    skrt_core_enter(core);
    if (!core->sync)
        share_join(core);
    struct skrt_half *half = &core->sync->half;
    uint64_t round = half->arrived;
    if (skrt_half_count(half, round, 1))
        skrt_half_tell(core, half);
    skrt_half_release(half);
    if (half->released > round) {
        skrt_core_leave(core);
        return;
    }
    skrt_half_wait(half, core);
    skrt_core_block(core, SKRT_WAIT_SYNC_ALL);
}

/* Whether the sub-kernel has parts on both core types of a launch with both. */
static bool is_mixed(const struct skrt_core *core)
{
    return !core->call->flat && core->call->aivs > 0 && core->job->launch->aivs > 0;
}

void skrt_kernel_sync_all(struct skrt_core *core)
{
    if (!core->call)
        skrt_core_misuse(core, "a barrier of sub-kernels outside of one");
    skrt_core_begin(core, skrt_core_call_site(core));
    if (core->arrived != core->awaited)
        skrt_core_misuse(core,
                         "its full barrier has met an arrival of the entry that is not awaited");
    bool mixed = is_mixed(core);
    if (mixed)
        skrt_flag_meet(core);
    if (mixed && core->type == SKRT_AIV)
        return;
    sync_point_pass(core);
    if (mixed)
        skrt_flag_part(core);
}
