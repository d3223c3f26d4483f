/* Which ops may mix what padding adds with what was there, so that results differ from those
 * without it. */
#ifndef FRONTEND_COMMANDS_PADDING_OPS_H
#define FRONTEND_COMMANDS_PADDING_OPS_H

#include "frontend/cli/input.h"

/* A graph with gears as it was asked for, and as it runs: with numbers in place of gears. */
struct padded_graphs {
    const struct graph *exact, *padded;
};

/* Warns of the first op of the graph that may. What is not known of an op is taken for mixing. */
void padding_ops_warn(struct input *input, const struct graph *graph,
                      const struct padded_graphs *graphs);

#endif
