/* Parts of ir/order.c: order by memory that ops share, and by events of launches. */
#ifndef IR_ORDER_PAIRS_H
#define IR_ORDER_PAIRS_H

#include "ir/effects.h"

/* One op before another. */
struct order_pair {
    uint32_t to, from; /* op ids */
    uint32_t name;     /* of the buffer, of the value written in place, or of the event */
};

struct order_pairs {
    struct order_pair *at;
    uint32_t count, capacity;
};

/* The edges between ops (`text`: all of them in text order) that access one memory, at least one of
 * them writing: read after write, write after read, write after write. What these imply of each
 * other is left out. What called graphs do is asked of `effects`. Appends to `pairs`. */
void memory_edges(struct order_pairs *pairs, const struct module *module, const struct graph *graph,
                  const uint32_t *text, uint32_t n_ops, struct effects *effects);

/* The edges by events that super kernels as a whole send (behind their last ops) or receive (before
 * their first ops): their attributes `send` and `recv`. Ops in between follow by the order of their
 * streams, in which `passive` ops have no part. Appends to `pairs`. */
void launch_edges(struct order_pairs *pairs, const struct module *module, const struct graph *graph,
                  const uint32_t *text, uint32_t n_ops, const uint32_t *stream,
                  const uint8_t *passive);

#endif
