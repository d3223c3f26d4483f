/* Options of `skirc run`. */
#ifndef FRONTEND_COMMANDS_RUN_OPTIONS_H
#define FRONTEND_COMMANDS_RUN_OPTIONS_H

#include "frontend/commands/runner.h"

/* What the command line says but for what depends on the file. False, with a usage error, where it
 * is wrong. */
bool run_options_read(struct runner *runner);
/* Options of scopes that make what is to be recorded, or NULL. */
const char *run_options_record(const struct runner *runner);

#endif
