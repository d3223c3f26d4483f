/* What a clock has measured, as it is printed: never the same twice, but for programs that are
 * `steady`, which print a word in the place of each such number. */
#ifndef FRONTEND_CLI_MEASURED_H
#define FRONTEND_CLI_MEASURED_H

#include "frontend/cli/command.h"

static inline bool is_steady(const struct invocation *invocation)
{
    return invocation->cli->steady;
}

/* At least `width` columns. */
static inline void put_milliseconds(const struct invocation *invocation, FILE *out, int width,
                                    double milliseconds)
{
    if (is_steady(invocation))
        fprintf(out, "%*s", width, "TIME");
    else
        fprintf(out, "%*.3f ms", width > 3 ? width - 3 : 0, milliseconds);
}

#endif
