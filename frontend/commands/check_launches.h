/* skirc check --launches: what launches of several streams do to each other. */
#ifndef FRONTEND_COMMANDS_CHECK_LAUNCHES_H
#define FRONTEND_COMMANDS_CHECK_LAUNCHES_H

#include "frontend/cli/input.h"

/* Prints the account of each graph of a module that limit-residency has seen, with what its remarks
 * say. */
void check_launches_print(struct input *input);

/* Whether the path is that of a table of launches (JSON); and the answer for one. */
bool is_launch_table(const char *path);
enum exit_status check_launch_table(struct invocation *invocation, const char *path);

#endif
