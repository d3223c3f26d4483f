/* The ops of each super kernel of a graph, in list order: the order in which an entry calls them. */
#ifndef IR_MEMBERS_H
#define IR_MEMBERS_H

#include "ir/module.h"

/* Those of block b are ops[first[b]] .. ops[first[b + 1] - 1]; none for blocks of other kinds. */
struct members {
    uint32_t *first, *ops;
};

/* For a verified graph. The order satisfies all that the graph demands. */
void members_init(struct members *members, const struct module *module, const struct graph *graph);
void members_free(struct members *members);

#endif
