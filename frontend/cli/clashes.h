/* Outputs that would replace what a command reads, or one another. */
#ifndef FRONTEND_CLI_CLASHES_H
#define FRONTEND_CLI_CLASHES_H

#include "frontend/cli/command.h"

/* The first input that is the file at this path, as the command line has it; this path where it
 * leads to a description in the folder of --kernel-dir; or NULL. */
const char *input_at(const struct invocation *invocation, const char *path);

/* Whether no option has a file written that has no name, or that the command line has read, nor two
 * of them the same file; else it is reported as an error of usage. A file may be formatted, and
 * passes be run on it, in place. What a module names has named_files.h. */
bool outputs_are_apart(const struct invocation *invocation);

#endif
