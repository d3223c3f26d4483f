/* Cores that take part in the barriers of calls that leave them out (docs/device-model.md, "Fed
 * barriers"). Each call of a core type has counters in the workspace; they are read and written under
 * the device's lock. */
#include <string.h>

#include "backend/runtime/internal.h"

enum {
    BEGUN, /* cores of the call that have begun */
    ENDED, /* ... and ended */
    IDLE,  /* cores that the call leaves out and that take part, or did */
    COUNTERS = 8,
};

/* The half of the workspace that the core's type has. */
static char *type_half(struct skrt_core *core, uint64_t slot, uint64_t size)
{
    const struct skrt_launch *launch = core->device->launch;
    uint64_t address = slot < launch->n_params ? launch->params[slot] : 0;
    if (address != 0 && address % sizeof(uint64_t) == 0 && size > 0 &&
        size % (2 * sizeof(uint64_t) * COUNTERS * launch->blocks) == 0)
        return (char *)(uintptr_t)address + (core->type == SKRT_AIV ? size / 2 : 0);
    skrt_core_lock(core);
    skrt_core_fail(core, SKRT_MISUSE,
                   "slot %llu does not hold the address of a workspace, or %llu bytes are none",
                   (unsigned long long)slot, (unsigned long long)size);
}

void skrt_clear_workspace(struct skrt_core *core, uint64_t slot, uint64_t size,
                          const struct skrt_site *site)
{
    skrt_core_begin(core, site);
    uint64_t part = size / 2 / core->device->launch->blocks;
    char *half = type_half(core, slot, size);
    if (core->sub == 0)
        memset(half + core->block * part, 0, part);
}

static uint64_t *counters_of(struct skrt_core *core, const struct skrt_feed *feed)
{
    uint64_t *half = (uint64_t *)(void *)type_half(core, feed->slot, feed->size);
    if (feed->index < feed->size / 2 / sizeof(uint64_t) / COUNTERS)
        return half + feed->index * COUNTERS;
    skrt_core_lock(core);
    skrt_core_fail(core, SKRT_MISUSE, "the workspace has no counters for call %llu",
                   (unsigned long long)feed->index);
}

uint32_t skrt_feed_idle(const struct skrt_core *core)
{
    return core->feed ? (uint32_t)core->feed[IDLE] : 0;
}

uint32_t skrt_feed_ended(const struct skrt_core *core)
{
    return core->feed ? (uint32_t)core->feed[ENDED] : 0;
}

/* Counters that cannot be: the workspace was not cleared, or is in other use. */
static void check_counters(struct skrt_core *core, const uint64_t *counters, uint32_t included)
{
    uint32_t idle = core->device->launched[core->type] - included;
    if (counters[BEGUN] <= included && counters[ENDED] <= counters[BEGUN] && counters[IDLE] <= idle)
        return;
    skrt_core_fail(core, SKRT_MISUSE,
                   "%llu of %u cores have begun, %llu have ended, %llu of %u others take part: the "
                   "workspace was not cleared, or the call is fed twice",
                   (unsigned long long)counters[BEGUN], included,
                   (unsigned long long)counters[ENDED], (unsigned long long)counters[IDLE], idle);
}

static void feed_begin(struct skrt_core *core, uint64_t *counters)
{
    if (core->feed)
        skrt_core_fail(core, SKRT_MISUSE, "another call is fed and has not ended");
    core->feed = counters;
    counters[BEGUN]++;
}

/* Those that wait for the end of this call go on. */
static void wake_feeders(struct skrt_device *device, const uint64_t *counters)
{
    struct skrt_core *core = device->feeders.first, *next;
    device->feeders = (struct skrt_core_list){NULL, NULL};
    for (; core; core = next) {
        next = core->next;
        if (core->feed == counters)
            skrt_sched_wake(core);
        else
            skrt_sched_push(&device->feeders, core);
    }
}

static void feed_end(struct skrt_core *core, uint64_t *counters, uint32_t included)
{
    if (core->feed != counters)
        skrt_core_fail(core, SKRT_MISUSE, "`feed_sync begin` of this call is missing");
    core->feed = NULL;
    if (++counters[ENDED] == included)
        wake_feeders(core->device, counters);
}

/* Returns whether the core waits, and is without the lock then. */
static bool feed_complement(struct skrt_core *core, uint64_t *counters, uint32_t included)
{
    counters[IDLE]++;
    if (!core->device->launch->full_barriers || counters[ENDED] == included)
        return false;
    core->feed = counters;
    skrt_sync_point_fed(core);
    skrt_sched_push(&core->device->feeders, core);
    skrt_core_block(core, SKRT_WAIT_FEED);
    core->feed = NULL;
    return true;
}

void skrt_feed_sync(struct skrt_core *core, enum skrt_feed_step step, const struct skrt_feed *feed,
                    const struct skrt_site *site)
{
    skrt_core_begin(core, site);
    uint64_t *counters = counters_of(core, feed);
    uint32_t included = skrt_call_cores(feed->call, core->type);
    if (skrt_core_included(core, feed->call) == (step == SKRT_FEED_COMPLEMENT))
        return;
    skrt_core_lock(core);
    check_counters(core, counters, included);
    bool waited = false;
    switch (step) {
    case SKRT_FEED_BEGIN: feed_begin(core, counters); break;
    case SKRT_FEED_END: feed_end(core, counters, included); break;
    case SKRT_FEED_COMPLEMENT: waited = feed_complement(core, counters, included); break;
    }
    if (waited)
        return;
    check_counters(core, counters, included);
    skrt_core_unlock(core);
}
