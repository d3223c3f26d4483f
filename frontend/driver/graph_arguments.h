/* What the command line gives the graphs of a file: values of names in dimensions, shapes of
 * parameters, and which graph it is about. */
#ifndef FRONTEND_DRIVER_GRAPH_ARGUMENTS_H
#define FRONTEND_DRIVER_GRAPH_ARGUMENTS_H

#include "frontend/driver/command.h"
#include "frontend/driver/module_io.h"
#include "ir/core/module.h"

/* ---- Rows of tables of options ---- */

#define BIND_OPTION                                                                                \
    {                                                                                              \
        "bind", 0, OPTION_MANY, "NAME=N", "a value for a name in dimensions: of 'dims' or a gear"  \
    }

#define SHAPE_OPTION                                                                               \
    {                                                                                              \
        "shape", 0, OPTION_MANY, "NAME=N,N,...",                                                   \
            "the shape of a parameter: of '?', names and gears"                                    \
    }

/* It has expand-gears leave nothing out. */
#define STRICT_GEARS_OPTION                                                                        \
    {                                                                                              \
        "strict-gears", 0, OPTION_FLAG, NULL,                                                      \
            "combinations of gears that the graph contradicts are errors, not left out"            \
    }

/* ---- Shapes ---- */

/* A parameter's shape, by --shape or by a file of --input. */
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
 * read of a file is reported where its contents are read. To be freed by vec_free. */
bool shape_arguments_read(struct shape_arguments *shapes, const struct invocation *invocation);

/* The parameter that has the shape; NONE. */
uint32_t given_param(const struct module *module, const struct graph *graph,
                     const struct given_shape *shape);

/* Puts the values of --bind into the module, those that follow from the shapes of --shape and
 * --input, and these shapes in the place of `?`. Parameters are those of the graph of --graph, or
 * of all that no other calls; names are those of all graphs, or of that one and what it calls. Of a
 * graph whose gears are expanded, the rows stay that have the values; graphs of others go, so that
 * indices change. EXIT_DONE, or what the command ends with. */
enum exit_status given_shapes_bind(struct input *input);

/* ---- Graphs ---- */

/* Takes out all but the graph of this name and what it reaches; where there is none, nothing. */
void graphs_keep_reached(struct module *module, const char *name);

/* Marks the graphs, by index, that no other calls, and returns how many there are; the marks of
 * others become 0. */
uint32_t outer_graphs_mark(const struct module *module, uint8_t *marks);

/* A usage error that asks for one of those that are marked, of which there are several, by --graph.
 * `having`: what they have of what is given, as a text; NULL: nothing is. */
void outer_graphs_report(const struct invocation *invocation, const struct module *module,
                         const uint8_t *marks, const char *having);

#endif
