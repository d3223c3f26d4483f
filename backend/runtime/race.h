/* The race check, as instructions and launches see it. Where its memory does not suffice to follow
 * the launch, the core that it follows fails. All but open, close and found need a race check. */
#ifndef BACKEND_RUNTIME_RACE_H
#define BACKEND_RUNTIME_RACE_H

#include <stdio.h>

#include "backend/runtime/state.h"

#pragma GCC visibility push(hidden)

/* Why a launch cannot be followed. */
extern const char skrt_race_no_memory[];

/* Whether a check speaks only of ops that it has. */
bool skrt_race_fits(const struct skrt_race_check *check);
/* For the job's launch, before its first instruction. Sets `job->race`; false without memory. */
bool skrt_race_open(struct skrt_job *job);
/* Does nothing where there is none. */
void skrt_race_close(struct skrt_job *job);

/* These take the lock. All calls that the core has gone through have drained. */
void skrt_race_drain(struct skrt_core *core);
/* The core arrives at the barrier of its type; it has awaited it. */
void skrt_race_arrive(struct skrt_core *core);
void skrt_race_await(struct skrt_core *core);

/* These need the lock. The core adds a release for an AIV or, as the AIV, for its AIC; the core
 * takes one. */
void skrt_race_set(struct skrt_core *core, struct skrt_core *aiv, enum skrt_flag flag);
void skrt_race_take(struct skrt_core *core, struct skrt_core *aiv, enum skrt_flag flag);
/* Before the cores that wait for the event are made ready. */
void skrt_race_notify(struct skrt_core *core, const void *word);
/* The core finds an event that has come. */
void skrt_race_wait_event(struct skrt_core *core, const void *word);
void skrt_race_reset(struct skrt_core *core, const void *word);

/* The core's current call, the last that `core->calls` counts, begins its work, or does not include
 * it. Takes the lock. */
void skrt_race_call(struct skrt_core *core, const struct skrt_call *call, bool included);

/* What was found, of a launch that has ended; the last prints a line for each finding. */
bool skrt_race_found(const struct skrt_job *job);
void skrt_race_cause(const struct skrt_job *job, char *text, size_t size);
void skrt_race_print(FILE *out, const struct skrt_job *job);

#pragma GCC visibility pop

#endif
