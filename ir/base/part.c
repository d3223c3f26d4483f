#include "ir/base/part.h"

static _Thread_local bool running;

bool part_run(struct mem_scope *scope, void (*work)(void *user), void *user)
{
    running = true;
    bool done = mem_scope_run(scope, work, user);
    running = false;
    return done;
}

bool part_runs(void)
{
    return running;
}

/* The same way out as where there is no memory. */
void part_leave(void)
{
    if (running)
        mem_exhausted();
}
