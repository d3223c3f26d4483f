/* Runs that are measured. */
#ifndef FRONTEND_COMMANDS_RUN_REPEAT_H
#define FRONTEND_COMMANDS_RUN_REPEAT_H

#include "frontend/commands/run_launch.h"

/* Behind the first runs, which have begun at a time of run_clock(): runs all ways in turn, as often
 * as wanted, each time with the inputs of the first run, and compares what they leave with that of
 * the first. Measured is what the launches take. */
enum exit_status run_repeat(struct outcomes *outcomes, double begin);

/* Behind them, one more run of each way whose records are wanted: records take time. Where nothing
 * is repeated, those of the first run are there. */
enum exit_status run_recorded(struct outcomes *outcomes);

#endif
