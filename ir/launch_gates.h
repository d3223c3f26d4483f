/* The order of a graph together with that of its launches, which follow one another on their
 * streams (docs/language.md, "Order"). */
#ifndef IR_LAUNCH_GATES_H
#define IR_LAUNCH_GATES_H

#include "ir/order.h"
#include "ir/order_pairs.h"

/* One op, or (op NONE) a super kernel. */
struct gates_launch {
    uint32_t op, gate;
};

/* The order with a node more for each super kernel, its gate: its ops are behind it, and it is
 * behind the launch before it on its stream. */
struct gates {
    struct order order;
    const struct order *base;
    const struct module *module;
    const struct graph *graph;
    struct id_map of_block; /* gate, by block */
    struct vec_u32 blocks;  /* by gate, without the ops before gates */
    struct range *members;  /* the same: places in the text from its first op to its last */
    struct order_pairs pairs;
    VEC(struct gates_launch) launches;
    struct id_map last; /* by the label of a stream + 1, 0 for the default one: its last launch */
};

/* `order` then has first, edges, text, n_ops, and passive and stream of the base for its ops alone;
 * it may have a circle. `base` must outlive it. */
void gates_init(struct gates *gates, const struct module *module, const struct graph *graph,
                const struct order *base);
void gates_free(struct gates *gates);

#endif
