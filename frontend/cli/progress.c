#include "frontend/cli/progress.h"

#include <time.h>
#include <unistd.h>

enum { FIRST_MS = 1000, NEXT_MS = 200 };

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

void progress_begin(struct progress *progress, const struct invocation *invocation,
                    const char *path, uint64_t total)
{
    int fd = fileno(invocation->err);
    *progress = (struct progress){.path = path, .total = total, .clock = now};
    if (fd >= 0 && isatty(fd))
        progress->terminal = invocation->err;
    progress->begin = now();
}

void progress_at(struct progress *progress, uint64_t done)
{
    if (!progress->terminal || progress->total == 0)
        return;
    int64_t time = progress->clock() - progress->begin;
    if (time < FIRST_MS || (progress->shown && time < progress->shown + NEXT_MS))
        return;
    progress->shown = time;
    fprintf(progress->terminal, "\rreading %s: %d%% ", progress->path,
            (int)(100.0 * (double)done / (double)progress->total));
    fflush(progress->terminal);
}

/* The cursor goes to the begin of the line, and all behind it is cleared. */
void progress_end(struct progress *progress)
{
    if (progress->shown)
        fputs("\r\033[K", progress->terminal);
    progress->shown = 0;
}
