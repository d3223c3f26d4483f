/* Whether kernels write all elements of their results, and nothing else: what runs of the graph
 * show, and which op does it (op_checks.h). */
#ifndef FRONTEND_COMMANDS_RUN_CHECK_H
#define FRONTEND_COMMANDS_RUN_CHECK_H

#include "frontend/commands/runner.h"

/* Before the first run of an outcome, in storages that are filled. */
void run_check_begin(struct outcome *outcome);
/* After it. EXIT_INPUT, reported, where a kernel does wrong. */
enum exit_status run_check_end(struct outcome *outcome);
/* Before each further run, in its workplace: unwritten memory has other contents than in the run
 * before, so that a result that depends on it changes. */
void run_check_again(const struct outcome *outcome);
/* Runs the ops of an outcome one by one. EXIT_INPUT, reported, where one does wrong. */
enum exit_status run_check_ops(const struct outcome *outcome);
/* In any case, at the end. */
void run_check_free(struct outcome *outcome);

#endif
