/* Which core runs on which thread: the run queue, the workers and their stacks. */
#ifndef BACKEND_RUNTIME_SCHEDULER_H
#define BACKEND_RUNTIME_SCHEDULER_H

#include "backend/runtime/state.h"

#pragma GCC visibility push(hidden)

static inline void skrt_list_push(struct skrt_core_list *list, struct skrt_core *core)
{
    core->next = NULL;
    if (list->first)
        list->last->next = core;
    else
        list->first = core;
    list->last = core;
}

static inline struct skrt_core *skrt_list_pop(struct skrt_core_list *list)
{
    struct skrt_core *core = list->first;
    if (core)
        list->first = core->next;
    return core;
}

/* ---- A core, on its own behalf. ---- */

/* Takes the device's lock, unless the core has it. */
static inline void skrt_sched_enter(struct skrt_core *core)
{
    if (core->worker->depth++ == 0)
        skrt_lock(core->device);
}

/* Wakes a worker that sleeps until it is called, unless one is about to wake. */
void skrt_sched_call_help(struct skrt_device *device);

/* Leaves the lock, however often it was entered, for code that is not skrt's and may take long:
 * another worker may have to take the cores that are ready. */
static inline void skrt_sched_let_go(struct skrt_worker *worker)
{
    struct skrt_device *device = worker->device;
    if (worker->depth > 0)
        skrt_unlock(device);
    worker->depth = 0;
    if (atomic_load_explicit(&device->n_ready, memory_order_relaxed) > 0 &&
        atomic_load_explicit(&device->n_callable, memory_order_relaxed) > 0 &&
        atomic_load_explicit(&device->n_searching, memory_order_relaxed) == 0)
        skrt_sched_call_help(device);
}

static inline void skrt_sched_leave(struct skrt_core *core)
{
    assert(core->worker->depth > 0);
    if (core->worker->depth == 1)
        skrt_sched_let_go(core->worker);
    else
        core->worker->depth--;
}

/* Ends the current core's turn. Its state must say why, and the core must be where its waker finds
 * it. Needs the lock; returns without it when the core is resumed. */
void skrt_sched_switch(struct skrt_core *core);
/* As skrt_sched_switch for a core that does not go on, since the launch was stopped. */
_Noreturn void skrt_sched_halt(struct skrt_core *core);
/* The core's state says why it does not go on now; its stack is not needed for that. Needs the
 * lock, and keeps it. */
void skrt_sched_park(struct skrt_core *core);

/* ---- These need the lock. ---- */

/* Makes a core ready that is new, or blocked, and in no list. */
void skrt_sched_ready(struct skrt_core *core);
/* A core that is blocked waits until its `word` is not 0. */
void skrt_sched_wait_event(struct skrt_core *core);
/* Makes the word 1; the cores that wait for it are ready, even if it is reset before they go on. */
void skrt_sched_send_event(struct skrt_device *device, _Atomic uint64_t *word);
/* A worker that has nothing to do wakes, unless one is awake. */
void skrt_sched_call(struct skrt_device *device);
/* No core goes on after its next instruction, because of a job (NULL: of none alone); the status
 * and cause stay if there is one yet. */
void skrt_sched_stop(struct skrt_device *device, const struct skrt_job *job,
                     enum skrt_status status, const char *cause);
/* Finds out whether nothing runs and nothing is ready. */
void skrt_sched_check_rest(struct skrt_device *device);
/* All workers end, as soon as they have nothing to do. */
void skrt_sched_dismiss(struct skrt_device *device);
/* Lets others have the lock until the launcher is told of something, or until a time of the
 * monotonic clock (0: without a limit). */
void skrt_sched_wait_done(struct skrt_device *device, uint64_t until);

/* Maps stacks for so many cores, or as many as there are places, and for the workers. False without
 * memory. */
bool skrt_sched_map_stacks(struct skrt_device *device, uint64_t cores);

/* ---- These do not. ---- */

/* How many stacks a device may ever need: one for each place, and what workers run on. */
uint32_t skrt_sched_most_stacks(uint32_t places, uint32_t workers);
/* The main function of threads; `arg` is a struct skrt_worker. */
void *skrt_sched_thread(void *arg);
/* The worker of the calling thread; NULL on threads that are not a device's. For signal handlers:
 * elsewhere a compiler may keep the address of thread-local data across a switch. */
const struct skrt_worker *skrt_sched_this_worker(void);
/* Whether the address is directly below one of the device's stacks: one has overflowed. For signal
 * handlers. */
bool skrt_sched_stack_overflow(const struct skrt_device *device, const void *address);

#pragma GCC visibility pop

#endif
