/* The option --target. */
#ifndef FRONTEND_CLI_TARGET_H
#define FRONTEND_CLI_TARGET_H

#include "backend/backend.h"
#include "frontend/cli/command.h"

/* The target that the option names, or the default. NULL, with a usage error, where there is no
 * such target. */
const struct backend *target_option(const struct invocation *invocation);

#endif
