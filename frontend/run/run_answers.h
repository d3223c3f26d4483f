/* What is asked of a run's values: --print, and --expect with --rtol and --atol. */
#ifndef FRONTEND_RUN_RUN_ANSWERS_H
#define FRONTEND_RUN_RUN_ANSWERS_H

#include "frontend/run/runner.h"
#include "ir/support/json.h"

/* What the options name, and how exactly. False, with a usage error, where that is nothing. */
bool run_answers_name(struct runner *runner);
void run_answers_free(struct runner *runner);

/* Before anything runs: whether there is what values are to be held against. EXIT_INPUT, reported,
 * where a file cannot be read, or does not fit. */
enum exit_status run_answers_check(const struct runner *runner, const struct storages *storages);

/* Prints values as --print says. False, reported, where one cannot be. */
bool run_answers_print(const struct runner *runner, const struct storages *storages);
/* That, and says of each --expect whether it holds. EXIT_INPUT where one
 * does not, or a file cannot be read. */
enum exit_status run_answers(const struct runner *runner, const struct storages *storages);

/* Adds the members "values" and "expected" to a report: the same as numbers. */
void run_answers_json(const struct runner *runner, const struct storages *storages,
                      struct json *json);

#endif
