/* Work that runs code of others, in a process of its own: whatever that code does to its process,
 * this one goes on, says what has happened, and leaves nothing behind. */
#ifndef FRONTEND_CLI_APART_H
#define FRONTEND_CLI_APART_H

#include "frontend/cli/command.h"

/* What has become of the work. */
struct apart_end {
    bool answered;        /* apart_answered() was called */
    char text[4096]; /* what was said of its end, the first lines: "skirc: ..."; "": nothing was */
};

/* Does the work of a command in a process that is forked, whose output comes as if it were done
 * here. Where that process does not come to the end of the work, by code of others, this says so,
 * with the calls that cores were in: EXIT_INPUT. One that starts another program, or that does not
 * tell of its own that it takes too long, is ended. A signal from outside that ends it, or a defect
 * before there is such code, ends this process in the same way. */
enum exit_status apart_run(struct invocation *invocation,
                           enum exit_status (*work)(struct invocation *invocation),
                           struct apart_end *end);

/* ---- For the work; without apart_run they do nothing where they do not say more. ---- */

/* How many seconds a launch, or code beside launches, may take (60); behind them, the process may
 * wait for one lock or thread some more. 0: any number. */
void apart_allow(uint64_t seconds);
/* There is code of others in the process. Beside launches `what` runs of it ("a constructor of
 * 'k.o'"), or, where that is NULL, nothing does. */
void apart_code_runs(const char *what);
/* Whose that code is, for people, in lines, of which there may be so many launches at once. To be
 * told before any of it runs. */
void apart_suspect(const char *lines, uint64_t launches);
/* So many launches, which may run one after another, begin, the first one of that name; 0: they
 * have ended. */
void apart_launches_run(uint32_t count, const char *first);
/* Whether calls of sub-kernels are noted, which takes time. */
void apart_note_calls(bool noted);
/* Says what has ended the work; who waits for it writes that where errors go, whatever has become
 * of this process's streams. Without apart_run it goes to standard error. For handlers of
 * signals. */
void apart_say(const char *text);
/* Whether the calls that cores are in belong behind what was said; for handlers of signals. */
void apart_say_calls(bool wanted);
/* Says what apart_suspect was told; without apart_run to `err`. */
void apart_say_suspects(FILE *err);
/* As apart_say; without apart_run to `err`. Not for handlers of signals. */
void apart_tell(FILE *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What the command was asked to write of its outcome is written, or is not to be. */
void apart_answered(void);
/* Whether this is a process of apart_run's. */
bool apart_is_apart(void);
/* Ends what has been started by this process or by its children, in its group. */
void apart_end_processes(void);
/* A signal that ends the process is not sent by itself; for handlers of signals. */
void apart_ended_from_outside(int signal_number);
/* Without apart_run, apart_leave() first calls this with what apart_tell() was told. */
void apart_on_leave(void (*leave)(void *context, const char *said, enum exit_status status),
                    void *context);
/* Ends the process as behind the work, at once: without what `exit` does. */
_Noreturn void apart_leave(enum exit_status status);

#endif
