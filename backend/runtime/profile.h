/* Time records: how they get into buffers, and those that the runtime itself makes. */
#ifndef BACKEND_RUNTIME_PROFILE_H
#define BACKEND_RUNTIME_PROFILE_H

#include "backend/runtime/state.h"

#pragma GCC visibility push(hidden)

/* In launches that have a buffer of their own: one of the runtime's. */
void skrt_record(struct skrt_core *core, enum skrt_phase phase, enum skrt_profile_kind kind);
/* The core is blocked, or goes on. */
void skrt_record_wait(struct skrt_core *core, enum skrt_phase phase);

#pragma GCC visibility pop

#endif
