/* Where a command writes what it makes of each of its files. */
#ifndef FRONTEND_CLI_OUTPUTS_H
#define FRONTEND_CLI_OUTPUTS_H

#include "frontend/cli/command.h"
#include "ir/base/intern.h"

/* Zero-initialised when empty. */
struct outputs {
    struct arena arena;
    struct intern names; /* in a folder */
    const char **paths;  /* of the invocation's files; "-": the output stream */
};

/* What becomes of files without --output. */
enum outputs_without { OUTPUTS_ONE /* one is printed, several are refused */, OUTPUTS_JOINED };

/* Plans by --output: a file, for one file; or a folder, one that is there, or a path with a slash
 * at its end, which is made. In a folder, files are named after the inputs, with this suffix. Where
 * two would be one, or one an input, nothing is written: a usage error. */
enum exit_status outputs_plan(struct outputs *outputs, const struct invocation *invocation,
                              const char *suffix, enum outputs_without without);
void outputs_free(struct outputs *outputs);

/* Does the work for each file, and returns the worst status. */
typedef enum exit_status outputs_work(struct invocation *invocation, const char *input,
                                      const char *output, const void *user);
enum exit_status outputs_each(struct outputs *outputs, struct invocation *invocation,
                              outputs_work *work, const void *user);

#endif
