/* Time records: how they get into buffers, and those that the runtime itself makes. */
#ifndef BACKEND_RUNTIME_RECORDS_H
#define BACKEND_RUNTIME_RECORDS_H

#include "backend/runtime/state.h"

#pragma GCC visibility push(hidden)

/* A record of now. */
struct skrt_profile_record skrt_record_now(const struct skrt_core *core, enum skrt_phase phase,
                                           enum skrt_profile_kind kind, uint32_t index);
/* Cores share a buffer without a lock. What it has no room for is counted. */
void skrt_record_write(struct skrt_profile *profile, uint64_t size,
                       const struct skrt_profile_record *record);

/* In launches that have a buffer of their own: one of the runtime's. */
void skrt_record(struct skrt_core *core, enum skrt_phase phase, enum skrt_profile_kind kind);
/* The core is blocked, or goes on. */
void skrt_record_wait(struct skrt_core *core, enum skrt_phase phase);

#pragma GCC visibility pop

#endif
