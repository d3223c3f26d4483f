/* The launches of a run. */
#ifndef FRONTEND_RUN_RUN_LAUNCH_H
#define FRONTEND_RUN_RUN_LAUNCH_H

#include "frontend/run/runner.h"

/* Makes it ready to be run as often as wanted, then to be closed: before the one (or NULL) that it
 * is measured beside. */
enum exit_status run_open(struct outcome *outcome, const struct outcome *beside);
void run_close(struct outcome *outcome);

/* Runs it once in that memory. Where it does not end well, what was to be written about it is
 * written, and said why. */
enum exit_status run_launch(struct outcome *outcome, const struct storages *storages);

/* Seconds of a clock that only goes on. */
double run_clock(void);

#endif
