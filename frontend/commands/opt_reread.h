/* Whether a module's text says all of it. */
#ifndef FRONTEND_COMMANDS_OPT_REREAD_H
#define FRONTEND_COMMANDS_OPT_REREAD_H

#include "frontend/cli/input.h"
#include "passes/pass.h"

/* Prints the module of the input, reads that as a file, verifies it, prints it again, and compares.
 * Where something is different, false, and the error stream says what; `pass` is who left the
 * module so. */
bool opt_reread(const struct input *input, const struct pass *pass);

#endif
