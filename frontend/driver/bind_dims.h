/* Graphs that a command is not about. */
#ifndef FRONTEND_DRIVER_BIND_DIMS_H
#define FRONTEND_DRIVER_BIND_DIMS_H

#include "frontend/driver/module_io.h"
#include "ir/core/module.h"
#include "ir/shapes/dims.h"

/* Takes out all but the graph of this name and what it reaches; where there is none, nothing. */
void graphs_keep_reached(struct module *module, const char *name);

/* Values for names of dimensions: `dims` and `gears` of graphs. */

/* Puts the values in place of their names in the types of those graphs that are meant, by index,
 * and declare them, which then declare them no more. Values of gears are those of a combination;
 * with `zip`, others follow. Of a graph whose gears are expanded, the rows stay that have the
 * values; graphs of others go, so that indices change. False, with diagnostics, where values do not
 * fit. */
bool bind_dims(struct module *module, const uint8_t *meant, const struct dim_binding *bindings,
               uint32_t count, struct diags *diags);

/* Adds a help to the last diagnostic that lists the combinations of gears of a graph. */
void help_combinations(struct module *module, const struct graph *graph, struct diags *diags);

/* Gives a graph what is not known of types that are written, but follows; and where types of
 * operands have `changed`, those that are not written anew. Where rules refuse these, the verifier
 * says so: false then. */
bool settle_types(struct module *module, struct graph *graph, bool changed, struct diags *diags);

/* ---- The option --bind NAME=N: values for names of dimensions ---- */

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
