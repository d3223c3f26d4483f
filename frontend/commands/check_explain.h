/* skirc check --explain: the remarks of a file as an account of its scopes. */
#ifndef FRONTEND_COMMANDS_CHECK_EXPLAIN_H
#define FRONTEND_COMMANDS_CHECK_EXPLAIN_H

#include "frontend/cli/input.h"

/* Prints the remarks, without source lines; those that are the same for several combinations of
 * gears once. */
void check_explain_print(struct input *input);

#endif
