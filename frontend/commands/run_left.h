/* Kernels that leave a thread or a process running behind a launch: what these use goes away. */
#ifndef FRONTEND_COMMANDS_RUN_LEFT_H
#define FRONTEND_COMMANDS_RUN_LEFT_H

#include "frontend/commands/runner.h"

/* What runs before a launch. */
struct run_left {
    unsigned long threads;
};

void run_left_begin(struct run_left *left);
/* Behind it: what runs now that did not, "thread" or "process", or NULL. */
const char *run_left_end(const struct run_left *left);

/* Finds the first op that leaves such a thing, while ops run one by one. */
struct run_left_search {
    const struct runner *runner;
    struct run_left left;
    char op[256]; /* or "" */
};
struct run_watch run_left_watch(struct run_left_search *search);

/* Says what was left, and whose it is where that was found, and ends the process. */
_Noreturn void run_left_report(const struct run_left_search *search, const char *what);

#endif
