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
    BY_WAIT,    /* who waits: it waited for one lock or thread for too long */
    BY_THREADS, /* who waits: its first thread had ended, and others had not */
};

/* A child of this process, and what has become of it. */
struct attended {
    pid_t pid;
    int status; /* as waitpid has it */
    enum ended_by by;
    uint64_t deadline;    /* the last one that it has told of */
    uint64_t told;        /* when that was seen first, on attend_clock() */
    uint64_t waits_since; /* on attend_clock(): its first thread waits so since then, or 0 */
    char waits[128];      /* for what */
    uint32_t headless;    /* turns for which its first thread has ended, and it has not */
    bool siblings; /* others have ended before it: it has made them its siblings (CLONE_PARENT) */
};

/* How long a process may take, in milliseconds. */
struct attend_limits {
    uint64_t running; /* code of others, at a time; 0: any number */
    uint64_t beside;  /* what this program does between, and behind that */
    uint64_t wait;    /* of that, its first thread for one lock or thread */
};

/* No deadline while code of others runs. */
#define ATTEND_NEVER UINT64_MAX

/* When nothing good is to be expected of it. */
struct attendance {
    int limits; /* of attend_limits_open() */
    /* When code of others that runs is to have ended, on attend_clock(), or ATTEND_NEVER; 0: none
     * runs. That code may change it: it is only believed as far as the limits allow. */
    const _Atomic uint64_t *deadline;
    uint64_t grace;       /* milliseconds behind that, and behind limits */
    bool waits_end;       /* a wait that is too long ends it, too */
    bool is_this_program; /* it is to stay that */
    /* It leads a group of its own, which no terminal stops: it stops when this process does. */
    bool stops_alike;
};

/* Milliseconds of a clock that only goes forwards. */
uint64_t attend_clock(void);

/* Memory in which a process tells that there is code of others in it, and what holds from then on.
 * Nobody can change it behind that. -1, with errno, where there is none. */
int attend_limits_open(void);
/* Tells, once, with bytes for who waits. False where that does not succeed. */
bool attend_limits_tell(int fd, const struct attend_limits *limits, const void *more, size_t size);
/* False where nothing was told: there is no code of others. `more`, or NULL, gets what was told
 * with it, as far as there is room, and 0 behind that. */
bool attend_limits_told(int fd, struct attend_limits *limits, void *more, size_t size);

/* What the system says of a process, or of a thread ("PID/task/ID"), behind a key as "TracerPid:";
 * "" where it says nothing. */
void attend_status(const char *process, const char *key, char *value, size_t size);
/* The number there, or 0. */
long attend_status_number(const char *process, const char *key);

/* Waits for the end of `attended->pid`, which it brings about when that is due. A process that
 * stops itself goes on; one that has itself traced by this one is let go. Whatever ends beside it
 * among this process's children is reaped. */
void attend(struct attended *attended, const struct attendance *attendance);

#endif
