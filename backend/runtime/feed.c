/* Cores that take part in the barriers of calls that leave them out (docs/device-model.md, "Fed
 * barriers"). Each call of a core type has counters in the workspace; they are read and written
 * under the device's lock. */
#include <string.h>

#include "backend/runtime/instructions.h"
#include "backend/runtime/shape.h"

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

static void feed_begin(struct skrt_core *core, struct skrt_feed_counters *counters)
{
    if (core->feed)
        skrt_core_fail(core, SKRT_MISUSE, "another call is fed and has not ended");
    core->feed = counters;
    counters->begun++;
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

static void feed_end(struct skrt_core *core, struct skrt_feed_counters *counters, uint32_t included)
{
    if (core->feed != counters)
        skrt_core_fail(core, SKRT_MISUSE, "`feed_sync begin` of this call is missing");
    core->feed = NULL;
    if (++counters->ended == included)
        wake_feeders(core->device, counters);
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
    struct skrt_sync_point *point = last ? skrt_sync_point_feed(core, call) : NULL;
    skrt_list_push(&core->device->feeders, core);
    skrt_core_block(core, SKRT_WAIT_FEED);
    core->feed = NULL;
    if (point)
        skrt_sync_point_unfeed(core, point);
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
    case SKRT_FEED_BEGIN: feed_begin(core, counters); break;
    case SKRT_FEED_END: feed_end(core, counters, included); break;
    case SKRT_FEED_COMPLEMENT:
        waited = feed_complement(core, counters, feed->call, included);
        break;
    }
    if (waited)
        return;
    check_counters(core, counters, included);
    skrt_core_leave(core);
}
