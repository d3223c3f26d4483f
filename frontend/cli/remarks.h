/* Diagnostics as JSON, for tools. */
#ifndef FRONTEND_CLI_REMARKS_H
#define FRONTEND_CLI_REMARKS_H

#include "frontend/cli/command.h"
#include "ir/base/diag.h"

/* Writes all diagnostics that were kept, remarks among them, to `path` ("-": standard output) as a
 * list of objects: severity, id, text, line, column (where there is a position), notes. */
enum exit_status remarks_write(const struct invocation *invocation, struct diags *diags,
                               const char *path);

#endif
