/* Events that reach outside a launch: words in memory. */
#include "backend/runtime/instructions.h"
#include "backend/runtime/launch_queue.h"
#include "backend/runtime/race.h"

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

/* Cores that wait for the event, and launches that are held back for it, go on. */
void skrt_notify(struct skrt_core *core, uint64_t slot, const struct skrt_site *site)
{
    skrt_core_begin(core, site);
    if (!does_events(core))
        return;
    _Atomic uint64_t *word = skrt_event_word(core, slot);
    skrt_core_enter(core);
    if (core->job->race)
        skrt_race_notify(core, word);
    skrt_sched_send_event(core->device, word);
    skrt_queue_advance(core->device);
    skrt_core_leave(core);
}

void skrt_event_await(struct skrt_core *core, uint64_t slot, const _Atomic uint64_t *word,
                      enum skrt_wait wait)
{
    assert(wait == SKRT_WAIT_EVENT || wait == SKRT_WAIT_TILING);
    skrt_core_enter(core);
    if (atomic_load_explicit(word, memory_order_acquire) != 0) {
        if (core->job->race)
            skrt_race_wait_event(core, word);
        skrt_core_leave(core);
        return;
    }
    core->wait_slot = slot;
    core->word = word;
    skrt_core_stop_at(core, wait);
    skrt_sched_wait_event(core);
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
    skrt_core_enter(core);
    atomic_store_explicit(word, 0, memory_order_release);
    if (core->job->race)
        skrt_race_reset(core, word);
    skrt_core_leave(core);
}
