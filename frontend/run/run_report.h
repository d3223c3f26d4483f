/* What `skirc run` says and writes about a run. */
#ifndef FRONTEND_RUN_RUN_REPORT_H
#define FRONTEND_RUN_RUN_REPORT_H

#include "frontend/run/runner.h"

/* Reports why the last run of a way did not end well. */
enum exit_status run_report_end(const struct outcome *outcome);

/* Writes the files of --trace and --profile: what the last run of a way has left. */
enum exit_status run_report_trace(const struct outcome *outcome);
enum exit_status run_report_profile(const struct outcome *outcome);

/* Differences, times, what the times allow to say, and the line that ends a run. */
void run_report_summary(const struct outcomes *outcomes);

/* ---- Profile ---- */

/* Tables of the recorded run of the first way: ops, and where cores were blocked; those of the
 * second way stand beside them. */
void run_profile_print(const struct outcomes *outcomes);

/* ---- JSON ---- */

/* Whether it stands on standard output, in the place of what is printed there otherwise. */
bool run_json_is_printed(const struct invocation *invocation);

/* Writes it, where --json says so, while the ways that could be opened are open. `status` is what
 * the run comes to; returns the worse of that and of writing. */
enum exit_status run_json_write(const struct outcomes *outcomes, enum exit_status status);

/* The same of a run that is refused before it begins, or whose process has ended, unless it is
 * written already. `other` is what it was to be compared with, as far as that was opened; or NULL.
 * `said` is what was said of the end, in lines, the first of which is the cause; mostly empty. */
enum exit_status run_json_refused(struct runner *runner, struct runner *other, const char *said,
                                  enum exit_status status);

#endif
