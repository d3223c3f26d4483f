/* Values of gears that a combination has which its graph does not contradict. */
#ifndef FRONTEND_COMMANDS_LEFT_VALUES_H
#define FRONTEND_COMMANDS_LEFT_VALUES_H

#include "frontend/cli/input.h"

/* To be freed by vec_free(). */
struct left_values {
    int64_t *at;
    uint32_t count, capacity;
};

/* Those of a gear of the graph, in the order of combinations, be it that some are there again. All
 * that the gear lists where no combination is left. */
struct left_values left_values_find(struct input *input, const struct graph *graph,
                                    const struct gear *gear);

#endif
