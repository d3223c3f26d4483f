/* What `skirc run --json` writes (docs/run.schema.json). */
#ifndef FRONTEND_COMMANDS_RUN_JSON_H
#define FRONTEND_COMMANDS_RUN_JSON_H

#include "frontend/commands/runner.h"

/* Whether it stands on standard output, in the place of what is printed there otherwise. */
bool run_json_is_printed(const struct invocation *invocation);

/* Writes it, where --json says so, while the ways that could be opened are open. `status` is what
 * the run comes to; returns the worse of that and of writing. */
enum exit_status run_json_write(const struct outcomes *outcomes, enum exit_status status);

/* The same of a run that is refused before it begins, unless it is written already. `other` is what
 * it was to be compared with, as far as that was opened; or NULL. */
enum exit_status run_json_refused(struct runner *runner, struct runner *other,
                                  enum exit_status status);

/* The same of a run whose process has ended without writing it: `said` is what was said of that, in
 * lines, the first of which is the cause. */
enum exit_status run_json_ended(struct runner *runner, const char *said, enum exit_status status);

#endif
