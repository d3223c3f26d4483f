/* The launch of a super kernel: how many cores of each type run its entry. */
#ifndef PASSES_ENTRY_LAUNCH_H
#define PASSES_ENTRY_LAUNCH_H

#include "ir/module.h"

struct launch {
    enum kernel_type type;
    uint32_t blocks;
};

/* A super kernel whose ops have kernels. */
struct launch_ops {
    const struct module *module;
    struct diags *diags;
    const struct graph *graph;
    const struct block *superkernel;
    const uint32_t *ops;
    uint32_t count;
};

/* The launch that the ops need, whatever options ask for, be it that the target has too few
 * cores. */
struct launch launch_of_needs(const struct launch_ops *ops);

/* That, or the one that debug-aic-num and debug-aiv-num ask for. False, reported, where these are
 * not possible or do not suffice, or where the target has too few cores. */
bool launch_choose(struct launch *launch, const struct launch_ops *ops);

#endif
