/* Kernels without code, which cannot run. */
#ifndef FRONTEND_COMMANDS_RUN_STUBS_H
#define FRONTEND_COMMANDS_RUN_STUBS_H

#include "ir/module.h"

/* Reports each stub that is the kernel of an op of a graph, or of those that it calls. Returns
 * whether there is none. */
bool run_without_stubs(const struct module *module, const struct graph *graph, struct diags *diags);

#endif
