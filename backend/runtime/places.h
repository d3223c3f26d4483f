/* The places of a device: its own cores, which blocks of launches take, and give back. All need the
 * lock.
 *
 * Where a device has two AIVs for each AIC, an AI core is one AIC with the two AIVs that are its
 * own, and a block of a mixed launch takes an AI core: its AIC and one or both of its AIVs. Other
 * devices have no AI cores: a mixed block takes any AIC and any AIVs. A block takes all that it
 * needs at once, always the lowest that are free. */
#ifndef BACKEND_RUNTIME_PLACES_H
#define BACKEND_RUNTIME_PLACES_H

#include "backend/runtime/state.h"

#pragma GCC visibility push(hidden)

/* Gives the cores of the job's next block their places, and counts the block; false where there are
 * none. */
bool skrt_places_take(struct skrt_job *job);
/* A core that has ended gives its place back. */
void skrt_places_leave(struct skrt_core *core);

#pragma GCC visibility pop

#endif
