/* Where values of names come from: for conflicts of what is given. */
#ifndef FRONTEND_COMMANDS_GIVEN_ORIGIN_H
#define FRONTEND_COMMANDS_GIVEN_ORIGIN_H

#include "frontend/cli/bind_argument.h"
#include "frontend/commands/shape_arguments.h"

/* Adds to the last diagnostic what says the values that a declared dimension of the graph has, one
 * line a name. The first `n_bound` bindings are those of --bind; others follow from shapes. */
void given_origin_help(struct input *input, const struct graph *graph,
                       const struct shape_arguments *shapes, const struct dim_bindings *bindings,
                       uint32_t n_bound, int64_t declared);

#endif
