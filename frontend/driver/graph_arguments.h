/* Shapes of parameters on the command line: in --shape NAME=N,N,..., and those of the files that
 * --input names. */
#ifndef FRONTEND_DRIVER_GRAPH_ARGUMENTS_H
#define FRONTEND_DRIVER_GRAPH_ARGUMENTS_H

#include "frontend/driver/bind_dims.h"
#include "frontend/driver/command.h"
#include "ir/core/module.h"

/* A parameter's shape, and where it stands. */
struct given_shape {
    const char *name, *from; /* the name has `size` bytes */
    size_t size;
    uint32_t rank;
    int64_t dims[MAX_RANK];
    bool file; /* its contents are read later, and all else that is wrong with them is said then */
    bool used; /* a graph has the parameter */
};

struct shape_arguments {
    struct given_shape *at;
    uint32_t count, capacity;
};

/* Both options where the command has them. False, reported, where --shape is wrong; what cannot be
 * read of a file is reported by whoever reads its contents. To be freed by vec_free. */
bool shape_arguments_read(struct shape_arguments *shapes, const struct invocation *invocation);

/* Graphs that a command is about where it does not name one: those that no other calls. */

/* Marks them, by index, and returns how many there are; the marks of others become 0. */
uint32_t outer_graphs_mark(const struct module *module, uint8_t *marks);

/* A usage error that asks for one of those that are marked, of which there are several, by --graph.
 * `having`: what they have of what is given, as a text; NULL: nothing is. */
void outer_graphs_report(const struct invocation *invocation, const struct module *module,
                         const uint8_t *marks, const char *having);

/* The graphs that values and shapes of the command line are for. */

/* By index, to be freed: that of --graph, or those that no other calls. Shapes are those of their
 * parameters. */
uint8_t *given_graphs(const struct input *input);

/* The parameter that has the shape; NONE. */
uint32_t given_param(const struct module *module, const struct graph *graph,
                     const struct given_shape *shape);

/* Shapes of parameters as the command line has them: by --shape, and by the files that --input
 * names. */

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
