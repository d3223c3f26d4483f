/* The state of the virtual device: devices, their threads, launches and cores, barriers. Nothing
 * here is visible outside libskrt.
 *
 * Two things are called a core. What a launch has launched is a struct skrt_core, with an index
 * among those of its launch. What the device has is a *place*, a number below its capacity: a core
 * needs one to run, and keeps it until its block, or its launch, gives it back.
 *
 * Locking. One lock of the device guards all that is not marked otherwise. While a core runs code
 * that is not skrt's, its worker does not have the lock. "Own" fields are touched by the core
 * itself only (and by the thread that begins its launch); those that the report of a core that
 * cannot be stopped reads are atomic. */
#ifndef BACKEND_RUNTIME_STATE_H
#define BACKEND_RUNTIME_STATE_H

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/runtime/fiber.h"
#include "backend/runtime/futex_lock.h"
#include "backend/runtime/names.h"
#include "backend/runtime/skrt.h"

#pragma GCC visibility push(hidden)

enum {
    SKRT_MAX_CORES = 1024, /* of one type */
    SKRT_MAX_AIVS = 2,     /* of one AI core */
    SKRT_FLAG_LIMIT = 15,  /* releases, and arrivals of a core, that may be outstanding */
    SKRT_CAUSE_SIZE = 256, /* of the text why a launch has ended */
    SKRT_EARLY_WAITS = SKRT_EARLY_WAIT_AIC | SKRT_EARLY_WAIT_AIV,
    SKRT_ROUNDS = SKRT_FLAG_LIMIT + 1, /* of a barrier that may be begun and not complete */
    SKRT_NO_PLACE = UINT32_MAX,
};

enum skrt_core_state {
    SKRT_CORE_NEW, /* in no list yet: it may not have a place */
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

/* Cores without stacks that are blocked in an await and advance row by row without being run
 * (barrier.c). Their own row and counters are as they were when they were added, less what had been
 * counted here then. */
struct skrt_bulk {
    struct skrt_core_list cores;
    uint32_t n, least; /* the smallest index */
    uint64_t row;      /* after the await */
    uint64_t rounds, calls;
};

/* A barrier over cores of a type: that of the entry, over all that are launched, or one inside a
 * call. Cores may arrive several rounds early; a round is complete when all have arrived at it. A
 * blocked core waits for the first round that is not complete, so one list of waiters suffices. */
struct skrt_barrier {
    uint32_t size;            /* cores that it includes, the first ones of the type */
    bool fed;                 /* cores that its call leaves out take part; */
    bool open;                /* they have arrived at all rounds */
    uint16_t at[SKRT_ROUNDS]; /* cores by how often they have arrived, modulo SKRT_ROUNDS */
    uint64_t complete;        /* rounds */
    struct skrt_core_list waiters;
    struct skrt_bulk bulk; /* these wait, too */
};

/* The barrier inside one call of a sub-kernel. Calls are told apart by the core type and by the
 * call's number: all cores of a type execute the same sequence of calls (those that a call does not
 * include count it too), though not at the same time. The first core that comes to it takes a free
 * one; the last one that leaves the call frees it. */
struct skrt_sync_point {
    struct skrt_sync_point *next; /* among those of the type, or the free ones */
    uint64_t number;              /* of its call */
    struct skrt_call call;        /* of the first core; says which cores it includes */
    bool joined;                  /* a core that the call includes has come to it */
    uint32_t users;               /* cores that are to leave it */
    struct skrt_barrier barrier;
};

/* What is counted of a call that is fed, for one core type. Lies in the workspace of the launch. */
struct skrt_feed_counters {
    uint64_t begun, ended; /* cores of the call */
    uint64_t idle;         /* cores that the call leaves out and that take part, or did */
    uint64_t reserved[5];
};

struct skrt_worker;
struct skrt_race;

struct skrt_core {
    _Alignas(64) struct skrt_core *next; /* in the one list it is in: ready, or waiters */
    struct skrt_worker *worker;          /* whose thread runs it; set before it does */
    struct skrt_fiber *fiber;            /* the stack that it is on; NULL while it needs none */
    struct skrt_device *device;
    struct skrt_job *job;
    uint32_t place; /* or SKRT_NO_PLACE */

    /* Fixed by the launch. */
    enum skrt_core_type type;
    uint32_t index; /* among the launched cores of its type */
    uint32_t block; /* AI core */
    uint32_t sub;   /* among the AIVs of its AI core */

    bool ended; /* it has finished, and left its stack */

    enum skrt_core_state state;
    bool begun;                      /* it has run */
    enum skrt_wait wait;             /* this and the next three where it is blocked */
    enum skrt_flag wait_flag;        /* for SKRT_WAIT_FLAG */
    uint64_t wait_slot;              /* for SKRT_WAIT_EVENT and SKRT_WAIT_TILING, */
    const _Atomic uint64_t *word;    /* and the word there, until it is not 0 */
    uint64_t arrived;                /* at the barrier of its type */
    uint8_t flags[SKRT_FLAGS];       /* outstanding releases; an AIV's only, for both directions */
    struct skrt_sync_point *sync;    /* of its current call, once it came to its barrier */
    struct skrt_feed_counters *feed; /* of the call that it feeds, or NULL */

    uint64_t awaited; /* own: the barrier of its type */
    /* Of the entry's two flags: how often the core has set the one, and waited for the other. */
    uint64_t sets, waits;
    bool meeting; /* it is in a full barrier of a sub-kernel with parts on both core types */
    /* Own: calls executed, included or not. So calls are numbered from 1, and 0 is none. */
    uint64_t calls;
    /* Own, and its partners' while it is blocked: the call that it is in, or NULL. */
    const struct skrt_call *call;
    /* Own: what the current call says of early start, and what its sub-kernel has done of it. */
    unsigned early, early_done;

    /* Own: the variant that is selected for the next call, or NULL, and its blocks. */
    const struct skrt_variant *variant;
    uint64_t variant_blocks;
    struct skrt_call selected; /* own: `call` points to it in a dynamic kernel's call */

    /* Own: whether an op has begun whose call has not included the core yet; the record of that,
     * and the slot of its buffer. */
    bool timing;
    uint64_t timed_slot;
    struct skrt_profile_record timed;

    void *kept; /* own: the entry's (skrt_keep) */

    /* Own: an entry that is data, and the row that comes next; or NULL. */
    const struct skrt_rows *rows;
    uint64_t row;

    _Atomic(const struct skrt_site *) site; /* own: the instruction it is at, or NULL */
    _Atomic(const struct skrt_site *) ran;  /* own: the last call that included it, or NULL */
    atomic_bool in_call;                    /* own: `ran` has not returned */

    struct skrt_sync_point point; /* one of those that the launch has */
};

/* A host thread. What is not marked is its own. */
struct skrt_worker {
    _Alignas(64) struct skrt_device *device;
    pthread_t thread;
    struct skrt_fiber host;             /* its own stack, where it looks for work */
    struct skrt_core *core;             /* that it runs, or NULL */
    struct skrt_core *next;             /* that a stack which is switched to shall begin with */
    uint32_t depth;                     /* how often its core has entered the device's lock */
    uint32_t patience;                  /* looks at the run queue before it sleeps */
    _Atomic uint64_t n_looks, n_sleeps; /* so far; for tests */
};

/* A stream of the queue: its launches run one after another. */
struct skrt_job {
    struct skrt_device *device;
    uint32_t stream;
    uint32_t at; /* in the queue: its launch that runs or is the next; n_launches behind the last */
    struct skrt_job *next; /* in the list of those that run */

    /* The launch that runs. */
    const struct skrt_launch *launch; /* NULL while none does */
    struct skrt_launch launch_copy;
    uint32_t launched[SKRT_CORE_TYPES];
    struct skrt_core *cores[SKRT_CORE_TYPES]; /* in room[SKRT_AIC] and room[SKRT_AIV] */
    uint32_t room[SKRT_CORE_TYPES];
    uint32_t placed;     /* blocks that have got their places, the first ones */
    uint32_t ready;      /* of these, those whose cores were made ready */
    uint32_t unfinished; /* cores */
    struct skrt_barrier barriers[SKRT_CORE_TYPES];
    struct skrt_sync_point *points[SKRT_CORE_TYPES]; /* lists of those in use, */
    struct skrt_sync_point *free_points;             /* and of the others */
    uint64_t begin;                                  /* of the monotonic clock */
    struct skrt_race *race;                          /* the race check, or NULL */
};

struct skrt_device {
    struct skrt_futex_lock lock;
    bool locked;                    /* for assertions */
    bool wakes_launcher, wakes_one; /* once the lock is free */
    _Atomic uint32_t done; /* the launcher sleeps here: the queue has come to its end, ... */

    uint32_t capacity[SKRT_CORE_TYPES];
    uint32_t n_places; /* of both types, and those of launches apart */
    /* By place: whose it is, or NULL. All places below `lowest` are taken. Those of the launch that
     * runs apart, if there can be such, follow `capacity` of them. */
    struct skrt_job **holders[SKRT_CORE_TYPES];
    uint32_t lowest[SKRT_CORE_TYPES];
    struct skrt_job *apart;          /* whose launch that is, or NULL */
    struct skrt_fiber *fibers;       /* room for `most_fibers`; the first `n_fibers` are mapped */
    struct skrt_fiber **free_fibers; /* the last one is taken first */
    uint32_t most_fibers, n_fibers, n_free_fibers;
    struct skrt_worker *workers;
    uint32_t n_workers;      /* whose threads were made, */
    uint32_t n_started;      /* and run */
    uint32_t n_searchers;    /* workers that look for work: one per processor at most */
    enum skrt_status broken; /* why no launch is possible any more, or SKRT_OK */

    /* The queue of launches. */
    const struct skrt_queue *queue; /* NULL between queues */
    struct skrt_result *results;    /* the launcher's, by launch */
    struct skrt_job *jobs;          /* by stream */
    uint32_t n_jobs, job_room;
    struct skrt_job
        *running;            /* the list of those whose launches run, in the order of their begin */
    enum skrt_status status; /* why it was stopped, or SKRT_OK */
    char cause[SKRT_CAUSE_SIZE];
    const struct skrt_job *culprit; /* whose launch stopped it; NULL: none alone */
    uint64_t begin;                 /* of the monotonic clock */

    /* The run queue (scheduler.c). Atomic: written under the lock, read without it. */
    _Alignas(64) struct skrt_core_list ready;
    _Atomic uint32_t n_ready;
    _Atomic uint32_t picks; /* cores that were taken so far */
    struct skrt_core_list event_waiters;
    struct skrt_core_list feeders;
    _Atomic uint32_t n_idle;             /* workers that sleep; */
    _Atomic uint32_t n_callable;         /* of these, those that sleep until they are called */
    _Alignas(64) _Atomic uint32_t calls; /* idle workers sleep here */
    atomic_bool calling;                 /* one was called and has not woken yet */
    _Atomic uint32_t n_searching;        /* workers; not under the lock */
    bool polling;                        /* an idle worker looks at events now and then */
    bool closing;
    bool settled;        /* nothing of the queue can run any more */
    atomic_bool stopped; /* cores halt at their next instruction; written under the lock */

    /* The scheduler calls these, but for the first with the lock. A core begins, or goes on without
     * a stack; returns whether it has finished: else it is blocked and has left its stack. A core
     * has finished; nothing runs and nothing is ready. */
    bool (*core_run)(struct skrt_core *core);
    void (*core_ended)(struct skrt_core *core);
    void (*came_to_rest)(struct skrt_device *device);
};

static inline void skrt_lock(struct skrt_device *device)
{
    skrt_futex_lock(&device->lock);
    device->locked = true;
}

/* Wakes threads only when they find the lock free. */
static inline void skrt_unlock(struct skrt_device *device)
{
    bool launcher = device->wakes_launcher, one = device->wakes_one;
    assert(device->locked);
    device->locked = device->wakes_launcher = device->wakes_one = false;
    skrt_futex_unlock(&device->lock);
    if (launcher)
        skrt_wake(&device->done, 1);
    if (one)
        skrt_wake(&device->calls, 2); /* one for the work, and one that searches */
}

#pragma GCC visibility pop

#endif
