/* Waits of ops, made those of the super kernel around them. */
#ifndef PASSES_LAUNCHES_MOVE_WAITS_H
#define PASSES_LAUNCHES_MOVE_WAITS_H

#include "ir/module.h"

/* An op no longer receives the event: the super kernel does that it is of. */
struct moved_wait {
    uint32_t op, event; /* event: a name id */
};

/* Changes what ops and super kernels of the graph receive: super kernels in the order given, behind
 * what they receive by then. Ops that are in no super kernel stay as they are. */
void move_waits(struct graph *graph, const struct moved_wait *waits, uint32_t count);

#endif
