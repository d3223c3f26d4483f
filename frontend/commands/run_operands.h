/* What stands in operands of ops that run, held against the data of their types
 * (docs/command-line.md, "Operands that are out of range"). */
#ifndef FRONTEND_COMMANDS_RUN_OPERANDS_H
#define FRONTEND_COMMANDS_RUN_OPERANDS_H

#include "frontend/commands/runner.h"

/* Before the first run of an outcome: what inputs and constants have. EXIT_INPUT, reported, where
 * an op cannot have it. */
enum exit_status run_operands_check_given(const struct outcome *outcome);

/* Behind it: what ops have computed, if it is still there. `*changing`: some of it is not, as ops
 * of one memory or of graphs that are called follow one another, so that it can only be looked at
 * op by op. */
enum exit_status run_operands_check_left(const struct outcome *outcome, bool *changing);

/* One op, before it begins; `values` has the memory of each value of its graph. False, reported,
 * where it cannot have what stands in its operands. */
bool run_operands_check_op(const struct runner *runner, const struct graph *graph,
                           const struct op *op, void *const *values);

#endif
