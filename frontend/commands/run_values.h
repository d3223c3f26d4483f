/* Contents of values in a run: what goes in, and what comes out. */
#ifndef FRONTEND_COMMANDS_RUN_VALUES_H
#define FRONTEND_COMMANDS_RUN_VALUES_H

#include "frontend/commands/runner.h"

/* What --input and --output name. False, with a usage error, where that is nothing. */
bool run_values_name(struct runner *runner);
void run_values_free(struct runner *runner);

/* Storage for a run, and for that op by op where there is one: ops may write parameters, so both
 * get the inputs before either runs. */
enum exit_status run_values_make(struct runner *runner, struct outcome *fused,
                                 struct outcome *unfused);
/* Writes what --output says. */
enum exit_status run_values_write(const struct runner *runner, const struct storage *storage);

#endif
