/* The option --sk-options of commands: options of every scope, over what the file says. */
#ifndef FRONTEND_CLI_SK_ARGUMENT_H
#define FRONTEND_CLI_SK_ARGUMENT_H

#include "frontend/cli/command.h"

/* Whether the value of an option ("sk-options"), where one is given, is correct. Says what is wrong
 * with it, as for the options of a scope, on the error stream; and warns there. */
bool sk_argument_check(const struct invocation *invocation, const char *option);

#endif
