/* skirc check --launches: what launches of several streams do to each other. */
#ifndef FRONTEND_COMMANDS_CHECK_LAUNCHES_H
#define FRONTEND_COMMANDS_CHECK_LAUNCHES_H

#include "frontend/cli/input.h"

/* Of a verified module: lowers it as far as launches are known, has limit-residency change them,
 * and prints the account of each graph. */
enum exit_status check_launches(struct input *input);

/* Whether the path is that of a table of launches (JSON); and the answer for one. */
bool is_launch_table(const char *path);
enum exit_status check_launch_table(struct invocation *invocation, const char *path);

#endif
