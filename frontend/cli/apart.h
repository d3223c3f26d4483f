/* Work that runs code of others, in a process of its own: whatever that code does to its process,
 * this one goes on, says what has happened, and leaves nothing behind. */
#ifndef FRONTEND_CLI_APART_H
#define FRONTEND_CLI_APART_H

#include "frontend/cli/command.h"

/* Does the work of a command in a process that is forked, whose output comes as if it were done
 * here. Where that process does not come to the end of the work, by code of others, this says so,
 * with the calls that cores were in: EXIT_INPUT. A signal from outside that ends it, or a defect
 * before there is such code, ends this process in the same way. */
enum exit_status apart_run(struct invocation *invocation,
                           enum exit_status (*work)(struct invocation *invocation));

/* ---- For the work; without apart_run they do nothing, but for the last. ---- */

/* How many seconds code beside launches may take (60); 0: any number. */
void apart_allow(uint64_t seconds);
/* There is code of others in the process. Beside launches `what` runs of it ("a constructor of
 * 'k.o'"), or, where that is NULL, nothing does. */
void apart_code_runs(const char *what);
/* Whether calls of sub-kernels are noted, which takes time. */
void apart_note_calls(bool noted);
/* What has happened has been said; for handlers of signals. */
void apart_reported(void);
/* A signal that ends the process is not sent by itself; for handlers of signals. */
void apart_ended_from_outside(int signal_number);
/* Ends the process as behind the work, at once: without what `exit` does. */
_Noreturn void apart_leave(enum exit_status status);

#endif
