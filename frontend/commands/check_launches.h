/* skirc check --launches: what launches of several streams do to each other. */
#ifndef FRONTEND_COMMANDS_CHECK_LAUNCHES_H
#define FRONTEND_COMMANDS_CHECK_LAUNCHES_H

#include "frontend/cli/input.h"

/* Prints the account of each graph of a module that limit-residency has seen, with what its remarks
 * say. */
void check_launches_print(struct input *input);

#endif
