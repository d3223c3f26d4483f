/* What commands write, and with which exit status they end. */
#ifndef FRONTEND_CLI_OUTPUT_H
#define FRONTEND_CLI_OUTPUT_H

#include "frontend/cli/command.h"
#include "ir/syntax/print.h"

/* The exit status of the worse of two outcomes. */
enum exit_status worse_status(enum exit_status a, enum exit_status b);

/* Writes text to `path` ("-": the invocation's output stream). Failures are reported on the error
 * stream, as EXIT_INPUT. */
enum exit_status write_output(const struct invocation *invocation, const char *path,
                              const struct text *text);

/* The same for the text of a module (see print_module), which is not held in memory as a whole. */
enum exit_status write_module(const struct invocation *invocation, const char *path,
                              const struct module *module, const struct spans *comments);

#endif
