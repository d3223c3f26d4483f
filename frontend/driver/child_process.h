/* A child process for work that runs code of the user: kernels, passes of plugins. Where that code
 * crashes, ends the process or does not return, the command reports it and removes temporary
 * files. */
#ifndef FRONTEND_DRIVER_CHILD_PROCESS_H
#define FRONTEND_DRIVER_CHILD_PROCESS_H

#include "frontend/driver/command.h"

struct child_end {
    bool answered;   /* child_answered() was called */
    char text[4096]; /* what was reported of a child that did not end by itself, or that was out of
                      * memory, or "" */
};

/* Does the work of a command in a child, whose output appears as if it were made here. Where the
 * child does not come to the end of the work once code of the user has run, that is reported.
 * Before that, a signal that ends the child ends this process, too. */
enum exit_status child_run(struct invocation *invocation,
                           enum exit_status (*work)(struct invocation *invocation),
                           struct child_end *end);

/* ---- For the work; without a child they do nothing unless they say otherwise. ---- */

/* Code of the user begins to run: `what` ("a constructor of 'k.o'"), for so many seconds at most;
 * 0: any number. After some seconds more, the parent ends the child. `failed`: the status where the
 * code does not come back. */
void child_code_begins(const char *what, uint64_t seconds, enum exit_status failed);
void child_code_ended(void);
/* Adds to the report of the end of the child; without one, to standard error. For signal handlers,
 * too. */
void child_report(const char *text);
/* The file that the command was asked to write of its outcome is written, or cannot be. */
void child_answered(void);
/* Ends the process with this status as if the work had returned it, but without what exit() does:
 * threads may still run code of the user. Without a child, too. */
_Noreturn void child_leave(enum exit_status status);

#endif
