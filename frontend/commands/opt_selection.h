/* The option --only: a part of a module, to be printed. */
#ifndef FRONTEND_COMMANDS_OPT_SELECTION_H
#define FRONTEND_COMMANDS_OPT_SELECTION_H

#include "frontend/cli/command.h"
#include "ir/syntax/print.h"

struct selection {
    enum { SELECT_ALL, SELECT_ENTRIES, SELECT_GRAPHS, SELECT_NAMED } what;
    const char *name; /* SELECT_NAMED: without '@' */
};

/* False, with a usage error, for a value that is wrong. */
bool selection_read(struct selection *selection, const struct invocation *invocation);

/* Appends the selected part of a module, and what it needs to be a text of its own: the target,
 * kernels, graphs that are called. */
void selection_print(struct text *text, const struct selection *selection,
                     const struct module *module, const struct spans *comments);

/* Whether the module has what is selected by name; false, with a message, where it has not. */
bool selection_is_there(const struct selection *selection, const struct invocation *invocation,
                        const struct module *module);

#endif
