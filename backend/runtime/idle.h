/* Workers without a core: how they look out, sleep, are woken, and find that nothing runs any
 * more. */
#ifndef BACKEND_RUNTIME_IDLE_H
#define BACKEND_RUNTIME_IDLE_H

#include "backend/runtime/home.h"

#pragma GCC visibility push(hidden)

/* From one core that a worker had to its next one; zeroed at first. */
struct skrt_rest {
    bool again;       /* there is work elsewhere that it has not got */
    uint64_t poll_ns; /* between looks at events */
};

/* Whether a home has cores for others. For everybody. */
bool skrt_idle_has_work(const struct skrt_home *home);
/* Whether some home has, whose worker will not see to it now. For everybody. */
bool skrt_idle_is_needed(const struct skrt_device *device);
/* Looks for news of the worker's home, at most so often; whether there are any. */
bool skrt_idle_look_out(struct skrt_worker *worker, uint32_t most);
/* A new worker is idle until it says this, and has started then; takes the lock. */
void skrt_idle_end(struct skrt_worker *worker);
/* The worker has found nothing to do: it rests until there may be something. False: the device
 * closes. Takes the lock. */
bool skrt_idle_rest(struct skrt_worker *worker, struct skrt_rest *rest);

/* These need the lock. Wakes a worker that has nothing to do, if there is one and no other is being
 * woken. */
void skrt_idle_call(struct skrt_device *device);
/* The same after a while in which others could not keep up; also one that naps. */
void skrt_idle_call_late(struct skrt_device *device);
/* While the worker had nothing to do, something came up that nobody would tell it of. */
bool skrt_idle_has_missed(const struct skrt_worker *worker);
/* Finds out whether nothing runs and nothing is ready. */
void skrt_idle_check(struct skrt_device *device);
/* All workers end, as soon as they have nothing to do. */
void skrt_idle_dismiss(struct skrt_device *device);

#pragma GCC visibility pop

#endif
