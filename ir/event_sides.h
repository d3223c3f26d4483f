/* Who sends and who receives events: ops and super kernels, by their clauses. */
#ifndef IR_EVENT_SIDES_H
#define IR_EVENT_SIDES_H

#include "ir/module.h"

/* One side of an event: an op, or (op NONE) a super kernel. */
struct event_side {
    uint32_t event; /* name id */
    uint32_t op, block;
    uint32_t index; /* in the clause */
};

struct event_sides {
    struct event_side *at;
    uint32_t count, capacity;
};

/* All sends (key W_send) or receives (W_recv) of a graph, those of ops first. The caller frees the
 * array. */
struct event_sides event_sides_find(const struct graph *graph, uint32_t key);

#endif
