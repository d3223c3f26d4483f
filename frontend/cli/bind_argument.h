/* The option --bind NAME=N: values for names of dimensions. */
#ifndef FRONTEND_CLI_BIND_ARGUMENT_H
#define FRONTEND_CLI_BIND_ARGUMENT_H

#include "frontend/cli/bind_dims.h"
#include "frontend/cli/input.h"

/* Its row in a table of options. */
#define BIND_OPTION                                                                                \
    {                                                                                              \
        "bind", 0, OPTION_MANY, "NAME=N", "a value for a name in dimensions: of 'dims' or a gear"  \
    }

struct dim_bindings {
    struct dim_binding *at;
    uint32_t count, capacity;
};

/* Reads the values, of each name the last. EXIT_DONE, or what the command ends with. */
enum exit_status bind_argument_read(const struct input *input, struct dim_bindings *bindings);

#endif
