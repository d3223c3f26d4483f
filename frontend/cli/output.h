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

/* Hands text on to the sink; false where the sink did not take all of it. */
typedef bool text_producer(struct print_sink *sink, const void *what);
/* The same for text that is not held in memory as a whole: that which `produce` makes of `what`. */
enum exit_status write_produced(const struct invocation *invocation, const char *path,
                                text_producer *produce, const void *what);
/* The same for the text of a module (see print_module). */
enum exit_status write_module(const struct invocation *invocation, const char *path,
                              const struct module *module, const struct spans *comments);

#endif
