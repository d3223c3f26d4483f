/* Whether kernels write all elements of their results, and nothing else. */
#ifndef FRONTEND_COMMANDS_RUN_CHECK_H
#define FRONTEND_COMMANDS_RUN_CHECK_H

#include "frontend/commands/runner.h"

/* Before the first run of an outcome, in storage that has been filled: what its kernels do not
 * write will show. */
void run_check_begin(struct outcome *outcome);

/* Behind it: if anything shows, runs the graph again, and op by op, and reports each op whose
 * kernel does it. EXIT_INPUT where that is so. */
enum exit_status run_check_end(struct outcome *outcome);
/* Before each further run, in its workplace, which is restored: what computes with something that
 * nobody has written is to compute something else in one of the next four, and who stops to write
 * leaves nothing. */
void run_check_again(const struct outcome *outcome);
/* In any case, at the end. */
void run_check_free(struct outcome *outcome);

#endif
