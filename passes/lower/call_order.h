/* Which op of its super kernel each call of an entry is for: the one whose arguments it passes.
 * Programs may call the ops in any order; what the order must be is the graph's affair. */
#ifndef PASSES_LOWER_CALL_ORDER_H
#define PASSES_LOWER_CALL_ORDER_H

#include "ir/core/kernel_args.h"

/* A super kernel whose ops have kernels, and its entry. Places are those of the list. */
struct called_source {
    struct diags *diags; /* NULL: faults are not told */
    const struct module *module;
    const struct graph *graph;
    const struct block *superkernel;
    const struct entry *entry;
    const uint32_t *ops; /* op ids in list order */
    uint32_t count;
    const uint32_t *grouped;        /* as in launch_order.h */
    const struct group_name *names; /* by place: what the op's group is called */
};

struct called {
    uint32_t *place;            /* by named group: the place of its op; NONE: of no op */
    uint32_t *call[CORE_TYPES]; /* by place: the index of its call in the program, or NONE */
    bool in_order;              /* both programs call in the order of the list */
};

/* Whether each op is called once on each core type that it has a part on, with its own kernel, and
 * nothing else is; faults are reported. Fills `called` in any case: of several calls of an op it
 * has the first. */
bool called_find(struct called *called, const struct called_source *source);
void called_free(struct called *called);

#endif
