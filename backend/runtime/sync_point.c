/* Barriers that sub-kernels have inside one call. */
#include "backend/runtime/instructions.h"
#include "backend/runtime/shape.h"

void skrt_sync_point_reset(struct skrt_device *device)
{
    uint32_t n = device->n_places;
    device->free_points = NULL;
    for (uint32_t i = 0; i < n; i++) {
        device->points[i].next = device->free_points;
        device->free_points = &device->points[i];
    }
}

/* The point of the core's current call, or NULL where nobody came to it yet. */
static struct skrt_sync_point *sync_point_find(const struct skrt_core *core)
{
    struct skrt_sync_point *point = core->job->live_points[core->type];
    while (point && point->call_number != core->calls)
        point = point->next;
    return point;
}

static struct skrt_sync_point *sync_point_new(struct skrt_core *core)
{
    struct skrt_job *job = core->job;
    struct skrt_sync_point *point = core->device->free_points;
    assert(point); /* there are as many as cores */
    core->device->free_points = point->next;
    const struct skrt_call *call = core->call;
    *point = (struct skrt_sync_point){
        .next = job->live_points[core->type],
        .call_number = core->calls,
        .call = *call,
        .size = skrt_call_cores(job->launch, call, core->type),
    };
    job->live_points[core->type] = point;
    return point;
}

static struct skrt_sync_point *sync_point_join(struct skrt_core *core)
{
    struct skrt_sync_point *point = sync_point_find(core);
    if (!point)
        point = sync_point_new(core);
    if (!skrt_call_alike(&point->call, core->call))
        skrt_core_fail(core, SKRT_MISUSE, "this is call %llu on cores that differ in its blocks",
                       (unsigned long long)core->calls);
    point->members++;
    core->sync = point;
    return point;
}

static void sync_point_free(struct skrt_core *core, struct skrt_sync_point *point)
{
    struct skrt_sync_point **link = &core->job->live_points[core->type];
    assert(point->arrived == 0 && !point->waiters.first);
    while (*link != point)
        link = &(*link)->next;
    *link = point->next;
    point->next = core->device->free_points;
    core->device->free_points = point;
}

void skrt_sync_point_leave(struct skrt_core *core)
{
    struct skrt_sync_point *point = core->sync;
    skrt_core_lock(core);
    assert(point->members > 0);
    core->sync = NULL;
    if (--point->members == 0)
        sync_point_free(core, point);
    skrt_core_unlock(core);
}

/* All have come: those that the call includes and, by the NPU's rule, the others, which feed. */
static bool sync_point_complete(struct skrt_core *core, struct skrt_sync_point *point)
{
    uint64_t idle = core->feed ? core->feed->idle : 0;
    assert(point->arrived <= point->members && point->members <= point->size);
    if (point->arrived < point->size)
        return false;
    if (core->job->launch->full_barriers && point->size + idle < core->job->launched[core->type])
        return false;
    point->arrived = 0;
    skrt_home_post_all(core->device, &point->waiters);
    return true;
}

void skrt_sync_point_fed(struct skrt_core *core)
{
    struct skrt_sync_point *point = sync_point_find(core);
    if (point)
        sync_point_complete(core, point);
}

/* The barrier over the call's cores of one type. */
static void sync_point_pass(struct skrt_core *core)
{
    skrt_core_lock(core);
    struct skrt_sync_point *point = core->sync ? core->sync : sync_point_join(core);
    point->arrived++;
    if (sync_point_complete(core, point)) {
        skrt_core_unlock(core);
        return;
    }
    skrt_list_push(&point->waiters, core);
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
