/* Kernels of ops that run one by one, with several kinds of numbers in what nobody has written:
 * results of values, workspaces, what is directly beside memory. What an op makes is to be the
 * same; and it can write nothing else. */
#ifndef FRONTEND_COMMANDS_RUN_PROBE_H
#define FRONTEND_COMMANDS_RUN_PROBE_H

#include "frontend/commands/runner.h"

/* Behind the first run of an outcome. EXIT_INPUT, reported, where an op does otherwise; or,
 * with --check-kernels, where that run has left something else than ops do that run one by one. */
enum exit_status run_probe(const struct outcome *outcome);

#endif
