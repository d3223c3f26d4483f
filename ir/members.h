/* The ops of each super kernel of a graph, in list order: the order in which an entry calls
 * them. Passive ones are of no list. */
#ifndef IR_MEMBERS_H
#define IR_MEMBERS_H

#include "ir/module.h"
#include "ir/order.h"

/* Those of block b are ops[first[b]] .. ops[first[b + 1] - 1]; none for blocks of other kinds. */
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

#endif
