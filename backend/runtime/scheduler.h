/* Which core runs on which thread. */
#ifndef BACKEND_RUNTIME_SCHEDULER_H
#define BACKEND_RUNTIME_SCHEDULER_H

#include "backend/runtime/home.h"

#pragma GCC visibility push(hidden)

/* ---- A core, on its own behalf. ---- */

/* Enters the gate of the core's home, unless the worker has done so; and leaves it again. */
static inline void skrt_sched_enter(struct skrt_core *core)
{
    struct skrt_worker *worker = core->worker;
    if (worker->held) {
        assert(worker->held == core->home);
        worker->depth++;
        return;
    }
    skrt_gate_enter(&core->home->gate);
    worker->held = core->home;
    worker->depth = 1;
}

/* However often it was entered; does nothing if it was not. */
void skrt_sched_leave_all(struct skrt_worker *worker);

/* How long the worker may be away: a call counts as more. So much of it is between looks at whether
 * those that nap are needed. */
enum skrt_absence { SKRT_SHORTLY = 1, SKRT_FOR_A_CALL = 32, SKRT_LONG = 256 };

/* Sees to it that others take over what is ready, if they can. */
void skrt_sched_look_for_help(struct skrt_worker *worker);

/* As skrt_sched_leave_all, where what comes is not skrt's code: others may take over what is ready.
 */
static inline void skrt_sched_let_go(struct skrt_worker *worker, enum skrt_absence absence)
{
    skrt_sched_leave_all(worker);
    worker->left += absence;
    if (worker->left >= SKRT_LONG || atomic_load(&worker->device->n_sleepers) > 0)
        skrt_sched_look_for_help(worker);
}

static inline void skrt_sched_leave(struct skrt_core *core)
{
    struct skrt_worker *worker = core->worker;
    assert(worker->held == core->home && worker->depth > 0);
    if (worker->depth == 1)
        skrt_sched_let_go(worker, SKRT_SHORTLY);
    else
        worker->depth--;
}

/* The device's lock, which is taken behind the gate. */
static inline void skrt_sched_share(struct skrt_core *core)
{
    assert(!core->worker->shares);
    skrt_lock(core->device);
    core->worker->shares = true;
}

static inline void skrt_sched_unshare(struct skrt_core *core)
{
    assert(core->worker->shares);
    core->worker->shares = false;
    skrt_unlock(core->device);
}

/* Ends the current core's turn. Its state must say why, and the core must be where its waker
 * finds it. Needs the gate. Leaves it and the lock; returns without them when the core is
 * resumed. */
void skrt_sched_switch(struct skrt_core *core);
/* As skrt_sched_switch for a core that does not go on, since the launch was stopped. */
_Noreturn void skrt_sched_halt(struct skrt_core *core);
/* The core's state says why it does not go on now; its stack is not needed for that. Needs the
 * gate, and keeps it. */
void skrt_sched_park(struct skrt_core *core);

/* ---- All others need the lock. ---- */

/* Lets the workers have a new core. */
void skrt_sched_begin(struct skrt_core *core);
/* No core goes on after its next instruction, because of a job (NULL: of none alone); the status
 * and cause stand if there is one yet. */
void skrt_sched_stop(struct skrt_device *device, const struct skrt_job *job,
                     enum skrt_status status, const char *cause);

/* The main functions of threads and of stacks; `arg` is a struct skrt_worker, or a struct
 * skrt_fiber. They take the lock themselves. */
void *skrt_sched_thread(void *arg);
void skrt_sched_stack(void *arg);
/* The worker of the calling thread; NULL on threads that are not a device's. For signal handlers:
 * elsewhere a compiler may keep the address of what belongs to a thread across a switch. */
const struct skrt_worker *skrt_sched_this_worker(void);

#pragma GCC visibility pop

#endif
