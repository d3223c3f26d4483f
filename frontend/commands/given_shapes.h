/* Shapes of parameters as the command line has them: by --shape, and by the files that --input
 * names. */
#ifndef FRONTEND_COMMANDS_GIVEN_SHAPES_H
#define FRONTEND_COMMANDS_GIVEN_SHAPES_H

#include "frontend/cli/bind_dims.h"

/* Its row in a table of options. */
#define SHAPE_OPTION                                                                               \
    {                                                                                              \
        "shape", 0, OPTION_MANY, "NAME=N,N,...",                                                   \
            "the shape of a parameter: of '?', names and gears"                                    \
    }

/* The row of the option that has expand-gears leave nothing out. */
#define STRICT_GEARS_OPTION                                                                        \
    {                                                                                              \
        "strict-gears", 0, OPTION_FLAG, NULL,                                                      \
            "combinations of gears that the graph contradicts are errors, not left out"            \
    }

/* Puts the values of --bind into the module, those that follow from the shapes of --shape and
 * --input, and these shapes in the place of `?`. Parameters are those of the graph of --graph, or
 * of all that no other calls. EXIT_DONE, or what the command ends with. */
enum exit_status given_shapes_bind(struct input *input);

#endif
