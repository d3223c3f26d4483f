/* Values for names of dimensions: `dims` and `gears` of graphs. */
#ifndef FRONTEND_CLI_BIND_DIMS_H
#define FRONTEND_CLI_BIND_DIMS_H

#include "ir/dims.h"

/* Whether a graph of the module declares the name. */
bool dims_are_named(const struct module *module, uint32_t name);

/* Puts the values in place of their names in the types of all graphs that declare them, which
 * then declare them no more. A value of a gear is one that it lists; with `zip`, the others follow.
 * False, with diagnostics, where values do not fit. */
bool bind_dims(struct module *module, const struct dim_binding *bindings, uint32_t count,
               struct diags *diags);

/* The same of names that are no gears, in one graph; types that follow are as they were. */
bool bind_free_dims(struct module *module, struct graph *graph, const struct dim_binding *bindings,
                    uint32_t count, struct diags *diags);

#endif
