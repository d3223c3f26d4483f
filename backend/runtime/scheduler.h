/* Which core runs on which thread. All but start, thread and this_worker need the lock. */
#ifndef BACKEND_RUNTIME_SCHEDULER_H
#define BACKEND_RUNTIME_SCHEDULER_H

#include "backend/runtime/state.h"

#pragma GCC visibility push(hidden)

/* Ends the current core's turn. Its state must say why, and the core must be where its waker
 * finds it. Releases the lock; returns without it when the core is resumed. */
void skrt_sched_switch(struct skrt_core *core);
/* As skrt_sched_switch for a core that never goes on. Its thread looks for another on its own
 * stack, so that this core's may be used again. */
_Noreturn void skrt_sched_halt(struct skrt_core *core, enum skrt_core_state state);
/* What a core's fiber must do first; without the lock. */
void skrt_sched_start(struct skrt_core *core);

/* Makes a core ready that is blocked, or new, and in no list. */
void skrt_sched_wake(struct skrt_core *core);
/* Wakes all of a list and empties it. */
void skrt_sched_wake_all(struct skrt_device *device, struct skrt_core_list *list);
/* Wakes the cores whose event has come. */
void skrt_sched_poll_events(struct skrt_device *device);
/* Makes sure that some thread looks after events. */
void skrt_sched_watch_events(struct skrt_device *device);
void skrt_sched_push(struct skrt_core_list *list, struct skrt_core *core);
/* No core goes on after its next instruction, because of a job (NULL: of none alone); the status
 * and cause stand if there is one yet. */
void skrt_sched_stop(struct skrt_device *device, const struct skrt_job *job,
                     enum skrt_status status, const char *cause);

/* The thread's main function; `arg` is a struct skrt_worker. Takes the lock itself. */
void *skrt_sched_thread(void *arg);
/* The worker of the calling thread; NULL on threads that are not a device's. For signal handlers:
 * elsewhere a compiler may keep the address of what belongs to a thread across a switch. */
const struct skrt_worker *skrt_sched_this_worker(void);

#pragma GCC visibility pop

#endif
