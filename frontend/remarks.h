/* Diagnostics as JSON, for tools. */
#ifndef FRONTEND_REMARKS_H
#define FRONTEND_REMARKS_H

#include "frontend/command.h"
#include "ir/diag.h"

/* Writes all diagnostics that were kept, remarks among them, to `path` ("-": standard output) as a
 * list of objects: severity, id, text, line, column (where there is a position), notes. */
enum exit_status remarks_write(const struct invocation *invocation, struct diags *diags,
                               const char *path);

#endif
