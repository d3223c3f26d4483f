/* What the files of the virtual device share. Nothing here is visible outside libskrt.
 *
 * Locking: `lock` of the device guards all that is not marked otherwise. "Own" fields are touched
 * by the core itself only (and by the launcher between launches); those that the report of a
 * core that cannot be stopped reads are atomic.
 */
#ifndef BACKEND_RUNTIME_INTERNAL_H
#define BACKEND_RUNTIME_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "backend/runtime/fiber.h"
#include "backend/runtime/skrt.h"

#pragma GCC visibility push(hidden)

enum {
    SKRT_MAX_CORES = 1024, /* of one type */
    SKRT_MAX_AIVS = 2,     /* of one AI core */
    SKRT_FLAG_LIMIT = 15,  /* releases that may be outstanding */
    SKRT_EARLY_WAITS = SKRT_EARLY_WAIT_AIC | SKRT_EARLY_WAIT_AIV,
};

/* The flags between an AIC and its AIVs: those of the entry and those of sub-kernels. */
enum skrt_flag {
    SKRT_FLAG_C2V,
    SKRT_FLAG_V2C,
    SKRT_FLAG_KERNEL_C2V,
    SKRT_FLAG_KERNEL_V2C,
    SKRT_FLAGS
};

struct skrt_flag_info {
    const char *name;
    enum skrt_core_type setter; /* cores of the other type wait */
    bool kernel;
};
extern const struct skrt_flag_info skrt_flag_table[SKRT_FLAGS];

enum skrt_core_state {
    SKRT_CORE_READY,
    SKRT_CORE_RUNNING,
    SKRT_CORE_BLOCKED,
    SKRT_CORE_HALTED, /* by the end of a launch that was stopped */
    SKRT_CORE_FINISHED,
};

/* What a blocked core waits for. */
enum skrt_wait {
    SKRT_WAIT_BARRIER,
    SKRT_WAIT_FLAG,
    SKRT_WAIT_SYNC_ALL,
    SKRT_WAIT_EVENT,
    SKRT_WAIT_FEED,
    SKRT_WAIT_TILING,
};

struct skrt_core_list {
    struct skrt_core *first, *last;
};

/* The barrier of the entry over all launched cores of a type. Cores may arrive ahead of one
 * another; a round is complete when all have arrived at it. A blocked core always waits for the
 * round after the last complete one: it has passed all before. So one list of waiters suffices. */
struct skrt_barrier {
    _Atomic uint64_t complete; /* rounds; written under the lock */
    uint32_t behind;           /* cores that have arrived `complete` times only */
    struct skrt_core_list waiters;
};

/* The barrier inside one call of a sub-kernel. Calls are told apart by the core type and by how
 * many calls a core has executed before: all cores of a type execute the same sequence of calls
 * (those that a call does not include count it too), though not at the same time.
 *
 * It lives from the first core that comes to it until the last core that came has left the call.
 * Nobody leaves before a round is complete, that is, before all that the call includes are
 * members; so it cannot go while somebody is still to come. A core is a member of one at most. */
struct skrt_sync_point {
    struct skrt_sync_point *next; /* in the list of its type, or the free list */
    uint64_t call_number;
    struct skrt_call call; /* of the first member; says whom it includes */
    uint32_t size;         /* cores that the call includes */
    uint32_t members, arrived;
    struct skrt_core_list waiters;
};

struct skrt_worker;
struct skrt_race;

struct skrt_core {
    _Alignas(64) struct skrt_fiber fiber;
    struct skrt_device *device;
    enum skrt_core_type type;
    uint32_t index; /* among the launched cores of its type */
    uint32_t block; /* AI core */
    uint32_t sub;   /* among the AIVs of its AI core */

    struct skrt_worker *worker; /* whose thread runs it; set before every switch to it */
    atomic_bool on_thread;      /* its registers are not saved yet, or in use again */

    struct skrt_core *next; /* in the one list it is in: ready, or waiters */
    enum skrt_core_state state;
    enum skrt_wait wait;      /* these four where it is blocked */
    enum skrt_flag wait_flag; /* for SKRT_WAIT_FLAG */
    uint64_t wait_slot;       /* for SKRT_WAIT_EVENT and SKRT_WAIT_TILING */
    const _Atomic uint64_t *wait_word;
    uint64_t arrived;             /* at the barrier of its type */
    uint8_t flags[SKRT_FLAGS];    /* outstanding releases; an AIV's only, for both directions */
    struct skrt_sync_point *sync; /* of its current call, once it came to it */
    uint64_t *feed;               /* counters of the call that it feeds (skrt_feed.c), or NULL */

    uint64_t awaited; /* own: the barrier of its type */
    uint64_t calls;   /* own: executed, included or not */
    uint64_t
        timed_slot; /* own: 0, or that of `timed`, the begin of an op that was not called yet */
    struct skrt_profile_record timed;
    const struct skrt_call
        *call; /* own (and its partners' while it is blocked): current, or NULL */
    /* Own: what the current call says of early start, and how much of it its sub-kernel has done. */
    unsigned early, early_done;
    const struct skrt_variant *variant; /* own: selected for the next call, or NULL */
    uint64_t variant_blocks;            /* own: with it */
    struct skrt_call selected;          /* own: `call` points to it in a dynamic kernel's call */
    _Atomic(const struct skrt_site *) site; /* own: the instruction it is at, or NULL */
    _Atomic(const struct skrt_site *) ran;  /* own: the last call that included it, or NULL */
    atomic_bool in_call;                    /* own: `ran` has not returned */
};

/* A host thread. */
struct skrt_worker {
    struct skrt_device *device;
    pthread_t thread;
    struct skrt_fiber host;     /* its own stack, where it looks for work */
    struct skrt_core *core;     /* that it runs, or NULL */
    struct skrt_core *previous; /* that it has just switched away from, or NULL */
};

struct skrt_device {
    pthread_mutex_t lock;
    pthread_cond_t work; /* for threads without a core: there may be one, or the device closes */
    pthread_cond_t done; /* for the launcher: the launch has come to its end */

    uint32_t capacity[SKRT_CORE_TYPES];
    struct skrt_core *cores[SKRT_CORE_TYPES];
    struct skrt_sync_point *points; /* as many as cores */
    struct skrt_worker *workers;
    uint32_t n_workers;      /* that were started */
    uint32_t spins;          /* looks at `n_ready` before a thread goes to sleep */
    enum skrt_status broken; /* why no launch is possible any more, or SKRT_OK */

    /* The launch. */
    const struct skrt_launch *launch; /* NULL between launches */
    struct skrt_launch launch_copy;
    uint32_t launched[SKRT_CORE_TYPES];
    struct skrt_site part_site; /* for parts that are launched without an entry */
    struct skrt_barrier barriers[SKRT_CORE_TYPES];
    struct skrt_sync_point *live_points[SKRT_CORE_TYPES];
    struct skrt_sync_point *free_points;
    enum skrt_status status; /* first cause of its end */
    char cause[256];
    struct timespec begin;
    struct skrt_race *race; /* the race check, or NULL */

    /* The scheduler. */
    struct skrt_core_list ready, event_waiters, feeders;
    _Atomic uint32_t n_ready; /* length of `ready`; written under the lock */
    uint32_t unfinished;      /* cores */
    uint32_t busy;            /* threads that run a core or are on the way from or to one */
    uint32_t sleeping, spinning;
    uint32_t picks;
    bool waking;  /* a sleeping thread was signalled and has not woken yet */
    bool polling; /* one of the sleeping threads looks after events */
    bool closing;
    bool settled;        /* nothing of the launch can run any more */
    atomic_bool stopped; /* cores halt at their next instruction; written under the lock */
};

/* ---- skrt_sched.c: which core runs on which thread. All need the lock. ---- */

/* Ends the current core's turn. Its state must say why, and the core must be where its waker
 * finds it. Releases the lock; returns without it when the core is resumed. */
void skrt_sched_switch(struct skrt_core *core);
/* As skrt_sched_switch for a core that never goes on. */
_Noreturn void skrt_sched_halt(struct skrt_core *core, enum skrt_core_state state);
/* What a core's fiber must do first; without the lock. */
void skrt_sched_start(struct skrt_core *core);

void skrt_sched_wake(struct skrt_core *core);
/* Wakes all of a list and empties it. */
void skrt_sched_wake_all(struct skrt_device *device, struct skrt_core_list *list);
/* Wakes the cores whose event has come. */
void skrt_sched_poll_events(struct skrt_device *device);
/* Makes sure that some thread looks after events. */
void skrt_sched_watch_events(struct skrt_device *device);
void skrt_sched_push(struct skrt_core_list *list, struct skrt_core *core);
/* No core goes on after its next instruction; the status and cause stand if there is one yet. */
void skrt_sched_stop(struct skrt_device *device, enum skrt_status status, const char *cause);

/* The thread's main function; `arg` is a struct skrt_worker. Takes the lock itself. */
void *skrt_sched_thread(void *arg);

/* ---- skrt_core.c: what cores do. ---- */

/* Every instruction begins here; the core halts where the launch was stopped. */
void skrt_core_begin(struct skrt_core *core, const struct skrt_site *site);
/* Takes the lock, unless the launch was stopped: then the core halts. */
void skrt_core_lock(struct skrt_core *core);
void skrt_core_unlock(struct skrt_core *core);
/* Stops the launch: this core cannot execute what it is at. Needs the lock. */
_Noreturn void skrt_core_fail(struct skrt_core *core, enum skrt_status status, const char *format,
                              ...) __attribute__((format(printf, 3, 4)));
/* Fails where a function of the race check returned a reason. Needs the lock. */
void skrt_core_race_check(struct skrt_core *core, const char *why);
/* Ends the core's turn until it is woken. Needs the lock, and releases it. */
void skrt_core_block(struct skrt_core *core, enum skrt_wait wait);
/* A core's fiber; `arg` is a struct skrt_core. */
void skrt_core_main(void *arg);
/* The word whose address a slot holds; a slot without one is misuse. */
_Atomic uint64_t *skrt_event_word(struct skrt_core *core, uint64_t slot);
/* Blocks until the word of the slot is not 0. Needs the lock, and releases it. */
void skrt_wait_for_word(struct skrt_core *core, uint64_t slot, const _Atomic uint64_t *word,
                        enum skrt_wait wait);
/* Stops the launch: this core cannot execute what it is at. */
_Noreturn void skrt_core_misuse(struct skrt_core *core, const char *why);
/* Where there is a race check: the core's current call begins its work, or does not include it. */
void skrt_core_race_call(struct skrt_core *core, const struct skrt_call *call, bool included);
/* Whether a call's part runs on this core. */
bool skrt_core_included(const struct skrt_core *core, const struct skrt_call *call);
/* How many cores of a type it is. */
uint32_t skrt_call_cores(const struct skrt_call *call, enum skrt_core_type type);
/* A core that the current call leaves out takes part in its barriers now. Needs the lock. */
void skrt_sync_point_fed(struct skrt_core *core);
/* Describes why the current launch cannot execute the call on cores of this type; false if it
 * can. */
bool skrt_call_misfit(const struct skrt_device *device, enum skrt_core_type type,
                      const struct skrt_call *call, char *why, size_t size);
/* The AIVs that a flag of this core concerns: itself for an AIV, its partners for an AIC. */
struct skrt_core *skrt_flag_aivs(const struct skrt_core *core, enum skrt_flag flag, uint32_t *n);

/* ---- skrt_profile.c: time records. ---- */

/* The core begins the call that `timed_slot` waits for. */
void skrt_profile_call(struct skrt_core *core);

/* ---- skrt_race.c: what cores know. All but open and close need the lock; all but open and found
 * need a race check. Those that return a text, which says why, have failed where it is not NULL. ---- */

/* For the launch that is set up. Sets `device->race`. */
const char *skrt_race_open(struct skrt_device *device);
/* Does nothing where there is none. */
void skrt_race_close(struct skrt_device *device);

/* The core begins the call that `core->calls` counts last, if it is included. */
const char *skrt_race_call(struct skrt_core *core, const struct skrt_call *call, bool included);
/* All calls that the core has gone through have drained. */
void skrt_race_drain(struct skrt_core *core);
const char *skrt_race_arrive(struct skrt_core *core);
void skrt_race_await(struct skrt_core *core);
/* The core adds a release for an AIV or, as the AIV, for its AIC; the core takes one. */
const char *skrt_race_set(struct skrt_core *core, struct skrt_core *aiv, enum skrt_flag flag);
void skrt_race_take(struct skrt_core *core, struct skrt_core *aiv, enum skrt_flag flag);
/* Before the cores that wait for the event are made ready. */
const char *skrt_race_notify(struct skrt_core *core, const void *word);
/* The core finds an event that has come. */
void skrt_race_wait_event(struct skrt_core *core, const void *word);
void skrt_race_reset(struct skrt_core *core, const void *word);

bool skrt_race_found(const struct skrt_device *device);
void skrt_race_cause(const struct skrt_device *device, char *text, size_t size);
/* A line for each finding. */
void skrt_race_print(FILE *out, const struct skrt_device *device);

/* ---- skrt_early.c: early start. ---- */

/* What a call's `early` says, done by a core that its sub-kernel does not run on. */
void skrt_early_idle(struct skrt_core *core, const struct skrt_call *call, unsigned early,
                     const struct skrt_site *site);
/* The core's sub-kernel has returned: it must have done what the call says. */
void skrt_early_check(struct skrt_core *core, const struct skrt_site *site);

/* ---- skrt_feed.c: cores that take part in barriers of calls that leave them out. ---- */

/* How many take part in those of the call that the core is in or has been in last. Needs the lock. */
uint32_t skrt_feed_idle(const struct skrt_core *core);
/* How many of the call's cores have ended, for a core that waits for that. Needs the lock. */
uint32_t skrt_feed_ended(const struct skrt_core *core);

/* ---- skrt_report.c. Need the lock, or a launch that has ended. ---- */

extern const char *const skrt_core_type_names[SKRT_CORE_TYPES];

/* The text of a result: the cause, and what each core does or did. malloc()ed; NULL without
 * memory. */
char *skrt_report_launch(const struct skrt_device *device);
/* Whether a flag is set; they must not be at the end of a launch. */
bool skrt_report_finds_left_set(const struct skrt_device *device);

/* "aic 3", and "aic 3, aic 5..7" for the marked ones of n. */
void skrt_report_core(FILE *out, enum skrt_core_type type, uint32_t index);
void skrt_report_cores(FILE *out, enum skrt_core_type type, const bool *marked, uint32_t n);

/* What the calling thread runs, for skrt_report_crash: set once per host thread. */
void skrt_report_set_worker(const struct skrt_worker *worker);

#pragma GCC visibility pop

#endif
