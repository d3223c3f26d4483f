/* What all instructions share: which cores a call includes; how instructions begin, take the lock,
 * block and fail. */
#ifndef BACKEND_RUNTIME_CORE_H
#define BACKEND_RUNTIME_CORE_H

#include "backend/runtime/profile.h"
#include "backend/runtime/scheduler.h"
#include "backend/runtime/state.h"

#pragma GCC visibility push(hidden)

/* Whether a call's part runs on this core: of an AI core, on all AIVs or on none. */
static inline bool skrt_core_included(const struct skrt_core *core, const struct skrt_call *call)
{
    if (!call->fn)
        return false; /* a variant without a part for this core type */
    if (call->flat)
        return core->index < call->blocks;
    return core->block < call->blocks && (core->type == SKRT_AIC || call->aivs > 0);
}

/* How many cores of a type it is in the current launch. */
uint32_t skrt_call_cores(const struct skrt_launch *launch, const struct skrt_call *call,
                         enum skrt_core_type type);
/* Whether two calls include the same cores. */
bool skrt_call_alike(const struct skrt_call *a, const struct skrt_call *b);
/* Describes why the current launch cannot execute the call on cores of this type; false if it
 * can. */
bool skrt_call_misfit(const struct skrt_launch *launch, enum skrt_core_type type,
                      const struct skrt_call *call, char *why, size_t size);

/* Takes the device's lock, unless the launch was stopped: then the core halts. */
static inline void skrt_core_enter(struct skrt_core *core)
{
    skrt_sched_enter(core);
    if (atomic_load_explicit(&core->device->stopped, memory_order_relaxed))
        skrt_sched_halt(core);
}

static inline void skrt_core_leave(struct skrt_core *core)
{
    skrt_sched_leave(core);
}

/* Every instruction begins here. A stopped launch must not go on even where cores never block. */
static inline void skrt_core_begin(struct skrt_core *core, const struct skrt_site *site)
{
    atomic_store_explicit(&core->site, site, memory_order_relaxed);
    if (atomic_load_explicit(&core->device->stopped, memory_order_relaxed))
        skrt_core_enter(core);
}

/* The instruction, for reports, of what a sub-kernel does: its call. */
static inline const struct skrt_site *skrt_core_call_site(const struct skrt_core *core)
{
    return atomic_load_explicit(core->call ? &core->ran : &core->site, memory_order_relaxed);
}

/* The core does not go on until it is woken. Needs the lock. */
static inline void skrt_core_stop_at(struct skrt_core *core, enum skrt_wait wait)
{
    assert(core->device->locked && core->state == SKRT_CORE_RUNNING);
    core->state = SKRT_CORE_BLOCKED;
    core->wait = wait;
    if (core->job->launch->records)
        skrt_record_wait(core, SKRT_BEGIN);
}

/* Ends the turn of a core that does not go on; it does so here. Needs the lock, and leaves it. */
static inline void skrt_core_switch(struct skrt_core *core)
{
    skrt_sched_switch(core);
    if (core->job->launch->records)
        skrt_record_wait(core, SKRT_END);
}

/* Both. */
static inline void skrt_core_block(struct skrt_core *core, enum skrt_wait wait)
{
    skrt_core_stop_at(core, wait);
    skrt_core_switch(core);
}

/* Stop the launch: this core cannot execute what it is at. The first needs the lock, the second,
 * for SKRT_MISUSE, takes it. */
_Noreturn void skrt_core_fail(struct skrt_core *core, enum skrt_status status, const char *format,
                              ...) __attribute__((format(printf, 3, 4)));
_Noreturn void skrt_core_misuse(struct skrt_core *core, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#pragma GCC visibility pop

#endif
