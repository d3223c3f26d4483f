/* What `skirc run --profile` says of the time records. */
#ifndef FRONTEND_COMMANDS_RUN_PROFILE_H
#define FRONTEND_COMMANDS_RUN_PROFILE_H

#include "frontend/commands/runner.h"

/* Tables of the recorded run of the first way: ops, and where cores were blocked; those of the
 * second way stand beside them. */
void run_profile_print(const struct outcomes *outcomes);

#endif
