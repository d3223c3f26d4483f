/* A part of some work that is done on several threads (ir/base/parts.h), seen from inside. */
#ifndef IR_BASE_PART_H
#define IR_BASE_PART_H

#include "ir/base/memory.h"

/* How many threads there may be, with the one that asks. */
struct threads {
    unsigned most; /* 0 is 1 */
    bool always;   /* also where they are not worth it */
};

/* Does the work in the scope, as mem_scope_run does, as a part. False where it was left. */
bool part_run(struct mem_scope *scope, void (*work)(void *user), void *user);

/* Whether this thread is in a part. */
bool part_runs(void);

/* To be called before something shared is written, or read that is not the same for all parts: a
 * part is left here, to be done again by itself. */
void part_leave(void);

#endif
