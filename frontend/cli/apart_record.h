/* What the process of the kernels and those that wait for it share (apart.h). Kernels may write
 * anything there: what decides goes by pipes, or is only what it is said to be if it can be so. */
#ifndef FRONTEND_CLI_APART_RECORD_H
#define FRONTEND_CLI_APART_RECORD_H

#include "backend/runtime/skrt.h"
#include "frontend/cli/apart.h"
#include "frontend/cli/attend.h"

/* What both processes see. Kernels may write anything here: who reads it takes it for what it is
 * said to be only if it can be that. */
struct record {
    _Atomic uint64_t done;     /* 0, or the key and ending_of() what the work has come to */
    _Atomic uint64_t answered; /* the key: apart_answered */
    _Atomic uint64_t outside;  /* the key and the signal from outside that ends the process, or 0 */
    atomic_bool code;          /* there is code of others, for who ends the process */
    atomic_bool wants_calls;   /* apart_say_calls */
    _Atomic uint64_t deadline; /* attendance.deadline */
    atomic_bool noted;         /* the notes are of the last launch */
    char running[256];         /* code that runs beside launches; "": none does */
    char launch[128];          /* the name of the last launch; "": there was none */
    struct skrt_note notes[SKRT_NOTES];
    _Atomic uint32_t said_size; /* it may be more than there is room for */
    char said[1 << 16];         /* of the end of the process, in lines */
};

/* Of which kernels have no end. */
struct ways {
    int limits; /* attend_limits_open(): told by the process of the work, with its suspects */
    int report
        [2]; /* from the process between: a struct report when the work begins, and behind it */
};

/* Which number stands for what is so: no memory that is overwritten has it by accident. It is made
 * before there is a process. */
void record_make_key(void);
uint64_t record_key(void);
/* The ending as `done` is to be. */
uint64_t record_done(enum exit_status status);
/* False where the work has not come to its end. */
bool record_ending(struct record *shared, enum exit_status *status);

/* Adds to what was said; both processes may, handlers of signals, too. */
void record_add(struct record *shared, const char *text, size_t size);
void record_say(struct record *shared, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Whose the code of others is, lines that are sealed with the limits: what is known where nothing
 * else is. */
enum { SUSPECTS_SIZE = 4096 };
void record_suspect(const char *lines);
/* The last launch, and that. */
void record_say_suspects(struct record *shared);
/* The calls that cores were in last, where they are noted, and the suspects. */
void record_say_calls(struct record *shared);
/* The calls that cores are in; where it is not known of any, as above. */
void record_say_running(struct record *shared);
/* The same, with the suspects in any case: it need not have been one of the calls that run. */
void record_say_any(struct record *shared);
/* How a process has ended that has not come to the end of its work. */
void record_say_end(struct record *shared, const struct attended *work);
/* Whether what was said cannot have been: then nothing was. */
bool record_take_damage(struct record *shared);
/* What was said goes to `err`, and its first lines into `end`. */
void record_take_said(const struct record *shared, FILE *err, struct apart_end *end);

/* The work of a command, and where that goes. */
struct errand {
    struct invocation *invocation;
    enum exit_status (*work)(struct invocation *invocation);
    enum exit_status status;
};

/* Does the work in this process, which is forked for that. It ends by exit, so that tools that
 * watch the process (leaks, coverage) get their turn. */
_Noreturn void apart_work(struct errand *errand, struct record *shared, const struct ways *ways,
                          pid_t parent);

#endif
