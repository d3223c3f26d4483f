/* skirc check --explain and --estimate: the remarks of a file as an account of its scopes, and how
 * long launches may take. */
#ifndef FRONTEND_COMMANDS_CHECK_EXPLAIN_H
#define FRONTEND_COMMANDS_CHECK_EXPLAIN_H

#include "frontend/cli/input.h"

/* Prints the account of each graph of a module that limit-residency has seen. */
void check_estimate_print(struct input *input);

/* Prints the remarks, without source lines; those that are the same for several combinations of
 * gears once. */
void check_explain_print(struct input *input);

#endif
