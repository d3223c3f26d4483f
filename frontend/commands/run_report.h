/* What `skirc run` says and writes about a run. */
#ifndef FRONTEND_COMMANDS_RUN_REPORT_H
#define FRONTEND_COMMANDS_RUN_REPORT_H

#include "frontend/commands/runner.h"

/* Reports why a run did not end well. Does not return where it cannot be stopped. */
enum exit_status run_report_end(const struct runner *runner, const struct run_result *result);

/* Writes the files of --profile and --trace. */
enum exit_status run_report_profile(const struct runner *runner, const struct run_profile *profile);
enum exit_status run_report_trace(const struct runner *runner, const struct run_result *result);

/* The line that ends a run; `unfused` may be NULL. */
void run_report_summary(const struct runner *runner, const struct outcome *fused,
                        const struct outcome *unfused, bool equal);

#endif
