/* Graphs that a command is about where it does not name one: those that no other calls. */
#ifndef FRONTEND_COMMANDS_OUTER_GRAPHS_H
#define FRONTEND_COMMANDS_OUTER_GRAPHS_H

#include "frontend/cli/command.h"
#include "ir/module.h"

/* Marks them, by index, and returns how many there are; the marks of others become 0. */
uint32_t outer_graphs_mark(const struct module *module, uint8_t *marks);

/* A usage error that asks for one of those that are marked, of which there are several, by --graph.
 * `having`: what they have of what is given, as a text; NULL: nothing is. */
void outer_graphs_report(const struct invocation *invocation, const struct module *module,
                         const uint8_t *marks, const char *having);

#endif
