/* Diagnostics as JSON, for tools. */
#ifndef FRONTEND_CLI_REMARKS_H
#define FRONTEND_CLI_REMARKS_H

#include "frontend/cli/command.h"
#include "ir/base/diag.h"
#include "ir/base/json.h"

/* Puts all diagnostics that were kept, remarks among them, into an open array, as objects:
 * severity, id, text, line, column (where there is a position), notes. `file` is said of what
 * stands in the source itself; NULL: it is said elsewhere. */
void remarks_json(struct json *json, struct diags *diags, const char *file);

/* Writes them to `path` ("-": standard output). */
enum exit_status remarks_write(const struct invocation *invocation, struct diags *diags,
                               const char *path);

#endif
