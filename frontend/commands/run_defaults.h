/* Numbers for inputs that nobody gives and that feed operands of which op data says what may stand
 * there: indices, axes, sizes ... (docs/command-line.md, "Operands that are out of range"). */
#ifndef FRONTEND_COMMANDS_RUN_DEFAULTS_H
#define FRONTEND_COMMANDS_RUN_DEFAULTS_H

#include "frontend/commands/runner.h"

/* Chooses them for memories of a storage that are marked, by the value that stands for each, once
 * all others that are given have their contents. Those of which nothing is said, or nothing fits,
 * stay as they are. */
void run_defaults_choose(const struct runner *runner, const struct storages *storages,
                         struct storage *storage, const bool *marked);

#endif
