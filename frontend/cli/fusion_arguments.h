/* The options --partition and --names of commands: where scopes are cut, and how super kernels are
 * called. */
#ifndef FRONTEND_CLI_FUSION_ARGUMENTS_H
#define FRONTEND_CLI_FUSION_ARGUMENTS_H

#include "frontend/cli/command.h"
#include "frontend/session.h"

#define FUSION_OPTIONS                                                                             \
    {"partition", 0, OPTION_VALUE, "RULE",                                                         \
     "where scopes are cut: fewest launches (default), or where the reference compiler cuts"},     \
    {                                                                                              \
        "names", 0, OPTION_VALUE, "RULE", "names of super kernels: own (default), or reference"    \
    }

/* What they say, if the command has them. False, with a usage error, where a value is unknown. */
bool fusion_arguments_read(const struct invocation *invocation, struct session_options *options);
/* Whether fusion_arguments_read succeeds. */
bool fusion_arguments_check(const struct invocation *invocation);

#endif
