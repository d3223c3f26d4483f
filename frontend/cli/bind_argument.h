/* The option --bind NAME=N: values for names of dimensions. */
#ifndef FRONTEND_CLI_BIND_ARGUMENT_H
#define FRONTEND_CLI_BIND_ARGUMENT_H

#include "frontend/cli/input.h"

/* Its row in a table of options. */
#define BIND_OPTION                                                                                \
    {                                                                                              \
        "bind", 0, OPTION_MANY, "NAME=N", "a value for a name in dimensions: of 'dims' or a gear"  \
    }

/* Puts the values into the module of the input. EXIT_DONE, or what the command ends with. */
enum exit_status bind_argument(struct input *input);

#endif
