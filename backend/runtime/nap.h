/* Naps: workers that are better away for a while.
 *
 * Where more runs on the machine than it has processors, a worker that is taken off its own keeps
 * all others waiting: it naps deeply, which nothing ends but time, and longer if that happens again
 * soon. Where the cores of all homes come to the next barrier faster than workers can meet, one
 * worker does better alone: others nap lightly, until cores have been ready for long. While a
 * worker naps, others run its home's cores. The first worker never does. */
#ifndef BACKEND_RUNTIME_NAP_H
#define BACKEND_RUNTIME_NAP_H

#include "backend/runtime/state.h"

#pragma GCC visibility push(hidden)

/* The worker has no core of its own: it naps, if need be. Takes the lock. */
void skrt_nap(struct skrt_worker *worker);
/* Whether nobody but the caller may be there for ready cores. For everybody. */
static inline bool skrt_nap_leaves_one(const struct skrt_device *device)
{
    return atomic_load_explicit(&device->n_naps, memory_order_relaxed) + 1 >= device->n_workers;
}
/* Whether the home's cores have been ready for so long that others should help. */
bool skrt_nap_is_late(const struct skrt_home *home);

#pragma GCC visibility pop

#endif
