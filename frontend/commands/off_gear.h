/* Shapes that no combination of gears has: --off-gear. */
#ifndef FRONTEND_COMMANDS_OFF_GEAR_H
#define FRONTEND_COMMANDS_OFF_GEAR_H

#include "frontend/cli/bind_argument.h"
#include "frontend/commands/padding.h"

/* What becomes of them. */
enum off_gear {
    OFF_GEAR_ERROR,
    OFF_GEAR_PAD,   /* the next larger combination runs */
    OFF_GEAR_EXACT, /* the graph is bound to them as if its gears were free names */
};

/* Settles the values of a graph's gears, of which some may be none that they list. PAD: these
 * become those of the next larger combination, and `padding` says what that adds; where no
 * combination is larger, or the graph contradicts the shape itself, that is reported and it is
 * false. Warns of ops that may mix what is added with what was there. EXACT: gears become names of
 * `dims`, and all have values. Where a combination has the values, nothing is done. */
bool off_gear_settle(struct input *input, struct graph *graph, enum off_gear mode,
                     struct dim_bindings *bindings, struct padding *padding);

#endif
