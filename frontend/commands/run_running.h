/* Threads and processes that kernels leave behind a launch. The system shows those that have ended
 * for a while yet: a thread that was joined, a process that ends. These run no code of kernels any
 * more, and are waited for. */
#ifndef FRONTEND_COMMANDS_RUN_RUNNING_H
#define FRONTEND_COMMANDS_RUN_RUNNING_H

/* The threads that this process has before a launch. */
struct run_running {
    unsigned long shown;   /* those that are ending, too */
    unsigned long running; /* 0 where the system does not say which are ending */
};

void run_running_take(struct run_running *before);
/* What runs now and did not before: "left a thread running", or NULL. It waits for nothing. */
const char *run_running_find(const struct run_running *before);
/* The same of what is not gone within a while: where the system does not say what is ending, that
 * is all that can be told. */
const char *run_running_await(const struct run_running *before);

#endif
