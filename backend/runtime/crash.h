/* What is noted of calls of sub-kernels (skrt_keep_notes). */
#ifndef BACKEND_RUNTIME_CRASH_H
#define BACKEND_RUNTIME_CRASH_H

#include "backend/runtime/state.h"

#pragma GCC visibility push(hidden)

extern struct skrt_note *skrt_notes; /* NULL: nothing is */

/* Around a call. */
void skrt_note_begin(struct skrt_core *core);
void skrt_note_end(struct skrt_core *core);

#pragma GCC visibility pop

#endif
