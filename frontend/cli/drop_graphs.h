/* Graphs that a command is not about. */
#ifndef FRONTEND_CLI_DROP_GRAPHS_H
#define FRONTEND_CLI_DROP_GRAPHS_H

#include "ir/module.h"

/* Takes out the graphs that are marked in `gone`, by index, which no others name, and entries that
 * are those of their super kernels and of no others'. */
void graphs_drop(struct module *module, const uint8_t *gone);

/* Takes out all but the graph of this name and what it reaches; where there is none, nothing. */
void graphs_keep_reached(struct module *module, const char *name);

#endif
