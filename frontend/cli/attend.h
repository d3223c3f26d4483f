/* Waiting for a process that runs code of others. */
#ifndef FRONTEND_CLI_ATTEND_H
#define FRONTEND_CLI_ATTEND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What has ended a process. */
enum ended_by {
    BY_ITSELF,
    BY_PROGRAM, /* who waits: another program was in its place */
    BY_TIME,    /* who waits: it was late */
};

/* A child of this process, and what has become of it. */
struct attended {
    pid_t pid;
    int status; /* as waitpid has it */
    enum ended_by by;
    uint64_t waits_since; /* on attend_clock(): its first thread waits so since then, or 0 */
    char waits[128];      /* for what */
    bool siblings; /* others have ended before it: it has made them its siblings (CLONE_PARENT) */
};

/* When nothing good is to be expected of it. Others may change it meanwhile. */
struct attendance {
    int code;                         /* attend_has_code(), whatever else is said here */
    const _Atomic uint64_t *deadline; /* on attend_clock(); 0: none */
    uint64_t grace;                   /* milliseconds behind that */
    /* Where there is no deadline: milliseconds that its first thread may wait for one lock or
     * thread; 0, or NULL: any number. */
    const _Atomic uint64_t *quiet;
    bool is_this_program; /* it is to stay that */
    /* It leads a group of its own, which no terminal stops: it stops when this process does. */
    bool stops_alike;
};

/* Milliseconds of a clock that only goes forwards. */
uint64_t attend_clock(void);

/* Whether there is code of others: a byte in a pipe, which nobody reads. */
bool attend_has_code(int pipe);

/* Waits for the end of `attended->pid`, which it brings about when that is due. A process that
 * stops itself goes on; one that has itself traced by this one is let go. Whatever ends beside it
 * among this process's children is reaped. */
void attend(struct attended *attended, const struct attendance *attendance);

#endif
