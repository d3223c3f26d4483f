/* A line on the terminal that says how far a command is, for who waits longer than a second. */
#ifndef FRONTEND_CLI_PROGRESS_H
#define FRONTEND_CLI_PROGRESS_H

#include "frontend/cli/command.h"

struct progress {
    FILE *terminal; /* NULL: errors go elsewhere, nothing is shown */
    const char *path;
    uint64_t total;         /* bytes of the input */
    int64_t begin, shown;   /* milliseconds: of the begin, of the last line; shown 0: none yet */
    int64_t (*clock)(void); /* milliseconds from any time on */
};

void progress_begin(struct progress *progress, const struct invocation *invocation,
                    const char *path, uint64_t total);
/* Shows how many bytes are read, where the time has come. */
void progress_at(struct progress *progress, uint64_t done);
/* Takes the line away. */
void progress_end(struct progress *progress);

#endif
