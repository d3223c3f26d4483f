/* Events that reach outside a launch: words in memory. */
#include "backend/runtime/idle.h"
#include "backend/runtime/instructions.h"
#include "backend/runtime/queue.h"
#include "backend/runtime/race.h"
#include "backend/runtime/watch.h"

/* What goes on outside is the business of one core of each type; the entry's own barriers tell the
 * others. */
static bool does_events(const struct skrt_core *core)
{
    return core->index == 0;
}

_Atomic uint64_t *skrt_event_word(struct skrt_core *core, uint64_t slot)
{
    const struct skrt_launch *launch = core->job->launch;
    uint64_t address = slot < launch->n_params ? launch->params[slot] : 0;
    if (address != 0 && address % sizeof(uint64_t) == 0)
        return (_Atomic uint64_t *)(uintptr_t)address;
    if (slot >= launch->n_params)
        skrt_core_misuse(core, "slot %llu, but the launch has %zu slots", (unsigned long long)slot,
                         launch->n_params);
    skrt_core_misuse(core, "slot %llu does not hold the address of a 64-bit word: 0x%llx",
                     (unsigned long long)slot, (unsigned long long)address);
}

/* Whoever waits for the event, or holds a launch back for it, goes on. */
static void send(struct skrt_core *core, _Atomic uint64_t *word)
{
    struct skrt_device *device = core->device;
    skrt_watch_send(device, word);
    if (atomic_load(&device->n_held) == 0)
        return;
    bool shares = core->worker->shares;
    if (!shares)
        skrt_core_lock(core);
    skrt_queue_advance(device);
    if (!shares)
        skrt_core_unlock(core);
}

/* Cores that wait now go on, even if the word is reset before they do. What a race check knows of
 * them has the lock. */
void skrt_notify(struct skrt_core *core, uint64_t slot, const struct skrt_site *site)
{
    skrt_core_begin(core, site);
    if (!does_events(core))
        return;
    _Atomic uint64_t *word = skrt_event_word(core, slot);
    if (!core->job->race) {
        send(core, word);
        return;
    }
    skrt_core_lock(core);
    skrt_race_notify(core, word);
    send(core, word);
    skrt_core_unlock(core);
}

/* Some sleeping thread looks after events from now on. A thread that lies down later sees that a
 * core waits; one that has lain down is seen here. */
static void see_to_polling(struct skrt_core *core)
{
    struct skrt_device *device = core->device;
    bool shares = core->worker->shares;
    if (atomic_load(&device->n_idle) == 0 || atomic_load(&device->polling))
        return;
    if (!shares)
        skrt_sched_share(core);
    if (!atomic_load(&device->polling))
        skrt_idle_call(device);
    if (!shares)
        skrt_sched_unshare(core);
}

void skrt_event_await(struct skrt_core *core, uint64_t slot, const _Atomic uint64_t *word,
                      enum skrt_wait wait)
{
    assert(wait == SKRT_WAIT_EVENT || wait == SKRT_WAIT_TILING);
    skrt_core_enter(core);
    if (core->job->race)
        skrt_sched_share(core);
    if (atomic_load_explicit(word, memory_order_acquire) != 0) {
        if (core->job->race)
            skrt_race_wait_event(core, word);
        if (core->job->race)
            skrt_sched_unshare(core);
        skrt_core_leave(core);
        return;
    }
    core->wait_slot = slot;
    skrt_core_stop_at(core, wait);
    skrt_watch_begin(core, word);
    see_to_polling(core);
    skrt_core_switch(core);
}

void skrt_wait_event(struct skrt_core *core, uint64_t slot, const struct skrt_site *site)
{
    skrt_core_begin(core, site);
    if (!does_events(core))
        return;
    const _Atomic uint64_t *word = skrt_event_word(core, slot);
    skrt_event_await(core, slot, word, SKRT_WAIT_EVENT);
}

void skrt_reset(struct skrt_core *core, uint64_t slot, const struct skrt_site *site)
{
    skrt_core_begin(core, site);
    if (!does_events(core))
        return;
    _Atomic uint64_t *word = skrt_event_word(core, slot);
    if (!core->job->race) {
        atomic_store_explicit(word, 0, memory_order_release);
        return;
    }
    skrt_core_lock(core);
    atomic_store_explicit(word, 0, memory_order_release);
    skrt_race_reset(core, word);
    skrt_core_unlock(core);
}
