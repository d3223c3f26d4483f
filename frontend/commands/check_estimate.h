/* skirc check --estimate: how long launches may take. */
#ifndef FRONTEND_COMMANDS_CHECK_ESTIMATE_H
#define FRONTEND_COMMANDS_CHECK_ESTIMATE_H

#include "frontend/cli/input.h"

/* Prints the account of each graph of a module that limit-residency has seen. */
void check_estimate_print(struct input *input);

#endif
