/* The graphs that values and shapes of the command line are for. */
#ifndef FRONTEND_COMMANDS_GIVEN_GRAPHS_H
#define FRONTEND_COMMANDS_GIVEN_GRAPHS_H

#include "frontend/cli/bind_dims.h"
#include "frontend/commands/shape_arguments.h"

/* By index, to be freed: that of --graph, or those that no other calls. Shapes are those of their
 * parameters. */
uint8_t *given_graphs(const struct input *input);
/* The same of those whose names have the values: all, or that of --graph with what it calls. */
uint8_t *given_graphs_meant(const struct input *input, const uint8_t *chosen);

/* False, with a usage error, where a command that is about one graph is given values or shapes, but
 * several are chosen; and where no graph that is meant has a name of --bind. */
bool given_graphs_check(const struct input *input, const uint8_t *chosen, const uint8_t *meant,
                        const struct shape_arguments *shapes, const struct dim_bindings *bindings);

/* The parameter that has the shape; NONE. */
uint32_t given_param(const struct module *module, const struct graph *graph,
                     const struct given_shape *shape);

#endif
