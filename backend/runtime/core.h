/* What every instruction stands on: how it begins, takes the lock, blocks and fails. */
#ifndef BACKEND_RUNTIME_CORE_H
#define BACKEND_RUNTIME_CORE_H

#include "backend/runtime/records.h"
#include "backend/runtime/scheduler.h"

#pragma GCC visibility push(hidden)

/* Takes the lock, unless the launch was stopped: then the core halts. */
static inline void skrt_core_lock(struct skrt_core *core)
{
    skrt_lock(core->device);
    if (atomic_load_explicit(&core->device->stopped, memory_order_relaxed))
        skrt_sched_halt(core, SKRT_CORE_HALTED);
}

static inline void skrt_core_unlock(struct skrt_core *core)
{
    skrt_unlock(core->device);
}

/* Every instruction begins here. A stopped launch must not go on even where cores never block. */
static inline void skrt_core_begin(struct skrt_core *core, const struct skrt_site *site)
{
    atomic_store_explicit(&core->site, site, memory_order_relaxed);
    if (atomic_load_explicit(&core->device->stopped, memory_order_relaxed))
        skrt_core_lock(core);
}

/* The instruction, for reports, of what a sub-kernel does: its call. */
static inline const struct skrt_site *skrt_core_call_site(const struct skrt_core *core)
{
    return atomic_load_explicit(core->call ? &core->ran : &core->site, memory_order_relaxed);
}

/* Ends the core's turn until it is woken. Needs the lock, and releases it. */
static inline void skrt_core_block(struct skrt_core *core, enum skrt_wait wait)
{
    assert(core->device->locked && core->state == SKRT_CORE_RUNNING);
    core->state = SKRT_CORE_BLOCKED;
    core->wait = wait;
    if (core->job->launch->records)
        skrt_record_wait(core, SKRT_BEGIN);
    skrt_sched_switch(core);
    if (core->job->launch->records)
        skrt_record_wait(core, SKRT_END);
}

/* Stop the launch: this core cannot execute what it is at. The first needs the lock, the second,
 * for SKRT_MISUSE, takes it. */
_Noreturn void skrt_core_fail(struct skrt_core *core, enum skrt_status status, const char *format,
                              ...) __attribute__((format(printf, 3, 4)));
_Noreturn void skrt_core_misuse(struct skrt_core *core, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#pragma GCC visibility pop

#endif
