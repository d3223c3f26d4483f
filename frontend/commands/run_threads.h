/* What kernels may change of the threads of their process, and leave for them: timers, signals. */
#ifndef FRONTEND_COMMANDS_RUN_THREADS_H
#define FRONTEND_COMMANDS_RUN_THREADS_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Of more threads than there is room for, the others are not looked at. */
enum { RUN_THREADS = 80 };
struct run_threads {
    unsigned count;
    struct run_thread {
        pid_t id;
        int nice, policy;
        cpu_set_t processors;
    } at[RUN_THREADS];
};

void run_threads_take(struct run_threads *threads);
/* Whether threads that are still there run otherwise, or there are timers; what it is, for people.
 * They are set back as far as that can be done, and timers deleted. NULL: nothing has changed. */
const char *run_threads_restore(const struct run_threads *threads);
/* The number of a signal that one of the threads keeps back; 0: none does. */
int run_threads_signal(void);

#endif
