/* Kernels of ops that run one by one, with numbers above all others and below them in what nobody
 * has written: results of values, workspaces, what is directly beside memory. What an op makes is
 * to be the same; and it can write nothing else. */
#ifndef FRONTEND_COMMANDS_RUN_PROBE_H
#define FRONTEND_COMMANDS_RUN_PROBE_H

#include "frontend/commands/runner.h"

/* Behind the first run of an outcome. EXIT_INPUT, reported, where an op does otherwise. */
enum exit_status run_probe(const struct outcome *outcome);

#endif
