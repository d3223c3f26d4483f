/* The order within launches and between them: the ops of each super kernel in list order, the
 * order in which its entry calls them, and the order of a graph with that of its launches. */
#ifndef IR_ANALYSIS_LAUNCH_ORDER_H
#define IR_ANALYSIS_LAUNCH_ORDER_H

#include "ir/analysis/dep_graph.h"
#include "ir/core/module.h"

/* All ops in an order that satisfies the edges: text order, but for ops that must come earlier.
 * `sorted` has room for n_ops ids. Returns false where the edges have a cycle; `cycle` then
 * receives indices of edges, each of whose `from` is the op that the next edge belongs to, the last
 * one's `from` being the op of the first: `cycle_op`. Free its array. */
struct order_cycle {
    uint32_t op;
    struct vec_u32 edges;
};
bool order_sort(const struct order *order, uint32_t *sorted, struct order_cycle *cycle);
/* The same of an order without cycles; the verifier refuses others. The caller frees the array. */
uint32_t *order_sorted(const struct order *order);

/* The ops of each super kernel, in list order; passive ones are of no list. Those of block b are
 * ops[first[b]] .. ops[first[b + 1] - 1]; none for blocks of other kinds. */
struct members {
    uint32_t *first, *ops;
    uint32_t *index;   /* per op of the graph: its place in its super kernel's list, or NONE */
    uint32_t *grouped; /* as `ops`: places in the list, in the order of the arguments of an entry,
                        * which is that of the list, or with `fixed_slots` that of the text */
};

/* For a verified graph and its order, which the lists satisfy. */
void members_init(struct members *members, const struct module *module, const struct graph *graph,
                  const struct order *order);
void members_free(struct members *members);

/* The place of an op in a super kernel's list, or NONE where the op is not of it. `index` is that
 * of members, `ops` and `count` are the list. */
static inline uint32_t members_place(const uint32_t *index, const uint32_t *ops, uint32_t count,
                                     uint32_t op)
{
    uint32_t place = index[op];
    return place < count && ops[place] == op ? place : NONE;
}

/* The order of a graph together with that of its launches, which follow one another on their
 * streams (docs/language.md, "Order"). */

/* One op, or (op NONE) a super kernel. */
struct gates_launch {
    uint32_t op, gate;
};

/* One node before another. */
struct gates_pair {
    uint32_t to, from;
};

/* The order with a node more for each super kernel, its gate: its ops are after it, and it is
 * after the launch before it on its stream. */
struct gates {
    struct order order;
    const struct order *base;
    const struct module *module;
    const struct graph *graph;
    struct id_map of_block; /* gate, by block */
    struct vec_u32 blocks;  /* by gate, without the ops before gates */
    struct range *members;  /* the same: places in the text from its first op to its last */
    VEC(struct gates_pair) pairs;
    VEC(struct gates_launch) launches;
    struct id_map last; /* by the label of a stream + 1, 0 for the default one: its last launch */
};

/* `order` then has first, edges, text, n_ops, and passive and stream of the base for its ops alone;
 * it may have a circle. `base` must outlive it. */
void gates_init(struct gates *gates, const struct module *module, const struct graph *graph,
                const struct order *base);
void gates_free(struct gates *gates);

#endif
