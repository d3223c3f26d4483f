/* Which ops may mix what padding adds with what was there, so that results differ from those
 * without it. */
#ifndef FRONTEND_COMMANDS_PADDING_OPS_H
#define FRONTEND_COMMANDS_PADDING_OPS_H

#include "frontend/cli/input.h"

/* Values of a graph's gears, in their order: those that run, and those that were asked for. */
struct padded_gears {
    const int64_t *padded, *exact;
};

/* Warns of the first op of the graph that may. What is not known of an op is taken for mixing. */
void padding_ops_warn(struct input *input, const struct graph *graph,
                      const struct padded_gears *gears);

#endif
