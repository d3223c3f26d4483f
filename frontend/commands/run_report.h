/* What `skirc run` says and writes about a run. */
#ifndef FRONTEND_COMMANDS_RUN_REPORT_H
#define FRONTEND_COMMANDS_RUN_REPORT_H

#include "frontend/commands/runner.h"

/* Reports why the last run of a way did not end well. */
enum exit_status run_report_end(const struct outcome *outcome);

/* Writes the files of --trace and --profile: what the last run of a way has left. */
enum exit_status run_report_trace(const struct outcome *outcome);
enum exit_status run_report_profile(const struct outcome *outcome);

/* Differences, times, what the times allow to say, and the line that ends a run. */
void run_report_summary(const struct outcomes *outcomes);

#endif
