/* Rings: what runs beside a launch because it needs a part of it, while another part needs it.
 *
 * A launch and the ops around it are a run: ops in an order that the graph allows, some of which
 * are of the launch. The others come before it, behind it, or run beside it. */
#ifndef IR_RINGS_H
#define IR_RINGS_H

#include "ir/order.h"

enum ring_place { RING_OWN, RING_BEFORE, RING_BESIDE, RING_BEHIND };

/* Room to work in, for the ops of one order. */
struct rings {
    const struct order *order;
    uint32_t *at;    /* per op: its place in the run, or NONE */
    uint8_t *behind; /* per op of the run: it needs one of the launch */
    uint8_t *before; /* per op of the run: one of the launch needs it */
};

void rings_init(struct rings *rings, const struct order *order);
void rings_free(struct rings *rings);

/* Says of each op of a run where it goes. `places` has RING_OWN for those of the launch, and gets
 * the others'. All that come before the launch can come before all of the run, and all behind it
 * behind all of it. Those of the launch that execute nothing go with what needs them there, or what
 * they need. */
void rings_place(struct rings *rings, const uint32_t *ops, uint32_t count, uint8_t *places);

#endif
