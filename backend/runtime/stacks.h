/* The stacks of a device: cores have one while they run code that is not skrt's, or have been
 * blocked in the middle of it. A worker gives its own to a core that is blocked, and takes
 * another. */
#ifndef BACKEND_RUNTIME_STACKS_H
#define BACKEND_RUNTIME_STACKS_H

#include "backend/runtime/state.h"

#pragma GCC visibility push(hidden)

/* How many a device may ever need: one for each place, what workers run on, and what they spare. */
uint32_t skrt_stacks_most(uint32_t places, uint32_t workers);
/* Sees to it that so many cores can have stacks, or as many as there are places; what is new begins
 * with `fn`, which gets its fiber. False without memory. Needs the lock. */
bool skrt_stacks_map(struct skrt_device *device, uint64_t cores, skrt_fiber_fn *fn);
/* Whether the address is directly below one of the device's stacks: one has overflowed. For signal
 * handlers. */
bool skrt_stacks_overflow(const struct skrt_device *device, const void *address);
/* A stack for the worker, which skrt_stacks_map has seen to; takes the lock. And back. */
struct skrt_fiber *skrt_stacks_take(struct skrt_worker *worker);
void skrt_stacks_give(struct skrt_worker *worker, struct skrt_fiber *fiber);

#pragma GCC visibility pop

#endif
