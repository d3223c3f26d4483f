/* The queue of launches that a device runs, and the places that launches have. All functions need
 * the lock.
 *
 * Places are the device's own cores, which blocks of launches take, and give back. Where a device
 * has two AIVs for each AIC, an AI core is one AIC with the two AIVs that are its own, and a block
 * of a mixed launch takes an AI core: its AIC and one or both of its AIVs. Other devices have no AI
 * cores: a mixed block takes any AIC and any AIVs. A block takes all that it needs at once, always
 * the lowest that are free. */
#ifndef BACKEND_RUNTIME_LAUNCH_QUEUE_H
#define BACKEND_RUNTIME_LAUNCH_QUEUE_H

#include "backend/runtime/state.h"

#pragma GCC visibility push(hidden)

/* Makes a job of each stream, of a queue in which nothing is wrong. False without memory. */
bool skrt_queue_open(struct skrt_device *device, const struct skrt_queue *queue,
                     struct skrt_result *results);
/* Forgets the queue. Unless cores go on, releases what its launches had. */
void skrt_queue_close(struct skrt_device *device);

/* Begins the launches that can begin, and has blocks begin wherever there are places for them. To
 * be called when an event has come. */
void skrt_queue_advance(struct skrt_device *device);

/* For the scheduler: a core has ended; nothing runs. */
void skrt_queue_core_ended(struct skrt_core *core);
void skrt_queue_came_to_rest(struct skrt_device *device);

#pragma GCC visibility pop

#endif
