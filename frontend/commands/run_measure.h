/* The launches of a run. */
#ifndef FRONTEND_COMMANDS_RUN_MEASURE_H
#define FRONTEND_COMMANDS_RUN_MEASURE_H

#include "frontend/commands/runner.h"

/* Runs the graph, and op by op or another one (or NULL) where that is wanted, and says what came of
 * it. */
enum exit_status run_measure(struct runner *runner, struct runner *other);

#endif
