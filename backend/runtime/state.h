/* The state of the virtual device: devices, their threads, launches and cores, barriers, and who
 * may touch what. Nothing here is visible outside libskrt.
 *
 * Two things are called a core. What a launch has launched is a struct skrt_core, with an index
 * among those of its launch. What the device has is a *place*, a number below its capacity: a core
 * needs one to run, and keeps it until its block, or its launch, gives it back.
 *
 * The files stand in layers; each uses those of the layers before it, never the other way round:
 *
 *   gate  fiber  names         locks; stacks; what things are called
 *   home  watch                ready cores; who waits for an event
 *   stacks  idle  nap          who has which stack; who has nothing to do, or naps
 *   scheduler                  which core runs on which thread
 *   records                    time records
 *   core  shape                what every instruction stands on; whom a call includes
 *   race  race_find            the race check
 *   barrier  flag              instructions, and what sub-kernels call
 *   sync_point  feed  profile
 *   report  crash              what cores do, in words
 *   places  queue              which launch begins, goes on and ends
 *   event  early  call  dynamic  the other instructions
 *   launch  device             what launchers call
 *
 * Every core has a *home*, which is one of the workers, all cores of a block the same one: there it
 * waits and becomes ready. Workers run the cores of their own homes; one that has none left takes a
 * ready core of another home, which does not change where that is at home.
 *
 * Locking. What belongs to a core is guarded by the gate of its home, and so is what the home and
 * the parts of launches that are there have. What cores of several homes meet at while they run is
 * atomic, and has no lock: rounds of barriers (home.c), which barrier a call has (sync_point.c),
 * events (watch.c). All that is not marked otherwise is guarded by the `lock` of the device: what
 * launches begin and end with, who sleeps, fed barriers, race checks. Who needs both takes the gate
 * first. Nobody has two gates but the launcher, when it stops a launch or reports one. While a core
 * runs code that is not skrt's, its gate is open. "Own" fields are touched by the core itself only
 * (and by whoever begins its launch); those that the report of a core that cannot be stopped reads
 * are atomic.
 */
#ifndef BACKEND_RUNTIME_STATE_H
#define BACKEND_RUNTIME_STATE_H

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "backend/runtime/fiber.h"
#include "backend/runtime/gate.h"
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
    SKRT_SPARE_STACKS = 2,             /* that a worker keeps at hand */
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

/* A barrier over cores of a type: that of the entry, over all that are launched, or one inside of a
 * call. Cores may arrive ahead of one another; a round is complete when all have arrived at it.
 * Homes count for themselves (struct skrt_half), and each tells the others of a round when all that
 * are at home there have arrived at it; the last one completes it. Rounds are completed in turn,
 * since each home tells of them in turn, and a count is free again when its round comes up, since
 * nobody is SKRT_ROUNDS ahead of a round that is not complete. */
struct skrt_barrier {
    _Atomic uint64_t complete;            /* rounds */
    uint32_t size;                        /* cores that it includes, the first ones of the type */
    uint32_t homes;                       /* that have some of them, and 1 if it is fed */
    bool fed;                             /* it needs those that feed, who tell of all rounds */
    _Atomic uint32_t counts[SKRT_ROUNDS]; /* homes that have told of a round, by its remainder */
};

/* Cores without stacks that are blocked in an await, and have executed what stands before it
 * without being run. Their own row, and what they count, is as it was when they began to rest, less
 * what had been counted here then. */
struct skrt_resting {
    struct skrt_core_list cores;
    uint32_t n, least; /* the smallest index */
    uint64_t row;      /* behind the await */
    uint64_t rounds, calls;
};

/* A home's share of a barrier. A blocked core waits for the round after `released`: it has passed
 * all before. So one list of waiters suffices. */
struct skrt_half {
    struct skrt_barrier *barrier;
    uint32_t cores;
    uint16_t at[SKRT_ROUNDS]; /* cores by how often they have arrived, by its remainder */
    uint64_t arrived;         /* rounds that all cores here have arrived at */
    uint64_t released;        /* rounds whose waiters were made ready */
    struct skrt_core_list waiters;
    struct skrt_resting resting; /* these wait, too */
    struct skrt_half *next;      /* among those of the home that have waiters */
};

/* The barrier inside one call of a sub-kernel. Calls are told apart by the core type and by the
 * call's number: all cores of a type execute the same sequence of calls (those that a call does not
 * include count it too), though not at the same time.
 *
 * It is made by the first home that comes to it. Nobody leaves it before a round is complete, that
 * is, before all that the call includes have come, or before the call has ended; so nobody looks
 * for it any more when the last user leaves it, and it is free for another call. */
struct skrt_sync_point {
    _Alignas(64) _Atomic uint64_t number; /* of its call; 0: free (sync_point.c) */
    struct skrt_call call;                /* of the first core; says whom it includes */
    _Atomic uint32_t users;               /* homes, and those that feed, who have not left it */
    struct skrt_barrier barrier;
};

/* All that a launch may have of one core type. */
struct skrt_sync_points {
    struct skrt_sync_point *all; /* as many as there is room for cores */
    /* The number of the call that got one last, behind it the place in `all` from 1; 0: none yet.
     * Each call gets one at most, so that this is never the same again. */
    _Atomic uint64_t last;
    _Atomic uint32_t used; /* none behind these was ever used by the launch */
};

/* A home's share of one. It lives from the first core at home there that comes to the barrier until
 * the last one has left the call. A core has one share at most. */
struct skrt_sync_share {
    struct skrt_sync_share *next; /* among those of the type at the home, or those that are free */
    struct skrt_sync_point *point;
    uint64_t number; /* of the call */
    uint32_t left;   /* cores that are to leave the call */
    struct skrt_half half;
};

/* What a launch has at one home. */
struct skrt_part {
    _Alignas(64) struct skrt_half halves[SKRT_CORE_TYPES];
    struct skrt_sync_share *shares[SKRT_CORE_TYPES];
    struct skrt_sync_share *free_shares; /* together as many as cores */
};

/* Who waits for an event, on one place of the device. */
struct skrt_watch {
    _Alignas(64) _Atomic uint64_t turn; /* odd: `core` waits until `word` is not 0 */
    _Atomic(struct skrt_core *) core;
    _Atomic(const _Atomic uint64_t *) word;
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
    struct skrt_home *home;
    struct skrt_worker *worker; /* whose thread runs it; set before it does */
    struct skrt_fiber *fiber;   /* the stack that it is on; NULL while it needs none */
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
    enum skrt_wait wait;             /* these three where it is blocked */
    enum skrt_flag wait_flag;        /* for SKRT_WAIT_FLAG */
    uint64_t wait_slot;              /* for SKRT_WAIT_EVENT and SKRT_WAIT_TILING */
    uint64_t arrived;                /* at the barrier of its type */
    uint8_t flags[SKRT_FLAGS];       /* outstanding releases; an AIV's only, for both directions */
    struct skrt_sync_share *sync;    /* of its current call, once it came to its barrier */
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

    struct skrt_sync_share share; /* one of those that the launch has at its home */
};

/* Where cores wait and become ready: one for each worker. */
struct skrt_home {
    _Alignas(64) struct skrt_gate gate;
    struct skrt_worker *owner;
    struct skrt_core_list ready;
    _Atomic uint32_t n_ready;  /* length of `ready`; written behind the gate */
    struct skrt_half *waiting; /* those that have waiters */
    _Atomic uint64_t since;    /* when its cores became ready, together; of the monotonic clock */
    _Atomic uint32_t seen;     /* of `signals`; written behind the gate */

    /* What others tell it, without its gate. */
    _Alignas(64) _Atomic uint32_t signals; /* that there is something new; the owner sleeps here */
    atomic_bool asleep;                    /* or about to */
    atomic_bool wanted;                    /* the owner waits for the gate */
    _Atomic(struct skrt_core *) inbox;     /* cores that may go on, the last one first */

    /* Guarded by the device's lock: a mark of skrt_home_post_all. */
    bool told;
};

/* What a worker has found about times and naps (nap.h). */
enum skrt_nap { SKRT_NAP_NONE, SKRT_NAP_LIGHT, SKRT_NAP_DEEP };
struct skrt_naps {
    uint64_t ns;            /* of the last one */
    uint64_t up_since;      /* its end; this and the next by the monotonic clock */
    uint64_t looked;        /* the last look at what the machine does */
    uint64_t ran;           /* up to then, on a processor; of the thread's clock */
    uint64_t slept;         /* since then */
    uint32_t waits;         /* times that the worker had no core of its own */
    _Atomic uint32_t awake; /* not 0: a nap ends; it sleeps here */
    atomic_bool down;       /* it naps */
};

/* A host thread. What is not marked is its own. */
struct skrt_worker {
    _Alignas(64) struct skrt_device *device;
    pthread_t thread;
    struct skrt_home *home;
    struct skrt_fiber host;      /* its own stack, where it looks for work */
    struct skrt_core *core;      /* that it runs, or NULL */
    struct skrt_core *next;      /* that a stack which is switched to shall begin with */
    struct skrt_fiber *previous; /* that it has just switched away from, or NULL */
    struct skrt_fiber *unused;   /* the same, if no core is on it */
    struct skrt_core *late;      /* that it has taken, and whose stack another worker is leaving */
    struct skrt_home *held;      /* whose gate it has entered, or NULL, */
    uint32_t depth;              /* so often */
    bool shares;                 /* it has the device's lock for its core */
    struct skrt_fiber *spare[SKRT_SPARE_STACKS];
    uint32_t n_spare;
    uint32_t picks; /* counts, between looks at events; */
    uint32_t left;  /* and at whether those that nap are needed */
    uint32_t heard; /* of its home's `signals`: others may see to what they tell, but not wake it */
    uint32_t first_looks;
    bool helps;        /* its last core was another home's, taken when it had none left */
    uint32_t patience; /* looks at `signals` before it sleeps */
    struct skrt_naps naps;
    enum skrt_nap nap;                  /* guarded by the device's lock, as the next two */
    bool idle;                          /* it has nothing to do; likewise */
    bool called;                        /* it is idle, and was told of work since; likewise */
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
    struct skrt_part *parts; /* by home */
    struct skrt_sync_points points[SKRT_CORE_TYPES];
    struct timespec begin;
    struct skrt_race *race; /* the race check, or NULL */
};

struct skrt_device {
    pthread_mutex_t lock;
    bool locked;         /* for assertions */
    pthread_cond_t done; /* for the launcher: the queue has come to its end, a thread has started */

    uint32_t capacity[SKRT_CORE_TYPES];
    uint32_t n_places; /* of both types, and those of launches apart */
    /* By place: whose it is, or NULL. All places below `lowest` are somebody's. Behind `capacity`
     * of them stand as many for the launch that runs apart, if there can be such. */
    struct skrt_job **holders[SKRT_CORE_TYPES];
    uint32_t lowest[SKRT_CORE_TYPES];
    struct skrt_job *apart;          /* whose launch that is, or NULL */
    struct skrt_fiber *fibers;       /* room for `most_fibers`; the first `n_fibers` are mapped */
    struct skrt_fiber **free_fibers; /* the last one is taken first */
    uint32_t most_fibers, n_fibers, n_free_fibers;
    struct skrt_watch *watches; /* by place, in the order of `holders` */
    struct skrt_worker *workers;
    uint32_t n_workers;      /* whose threads were made, */
    uint32_t n_started;      /* and run */
    struct skrt_home *homes; /* by worker */
    uint32_t n_homes;        /* that launches use, the first ones: one per processor at most */
    uint32_t patience;       /* the most of a worker's */
    enum skrt_status broken; /* why no launch is possible any more, or SKRT_OK */

    /* The queue. */
    const struct skrt_queue *queue; /* NULL between queues */
    struct skrt_result *results;    /* the launcher's, by launch */
    struct skrt_job *jobs;          /* by stream */
    uint32_t n_jobs, job_room;
    struct skrt_job
        *running;            /* the list of those whose launches run, in the order of their begin */
    enum skrt_status status; /* why it was stopped, or SKRT_OK */
    char cause[SKRT_CAUSE_SIZE];
    const struct skrt_job *culprit; /* whose launch stopped it; NULL: none alone */
    struct timespec begin;

    /* The scheduler. */
    struct skrt_core_list fresh; /* new cores, which have not begun */
    struct skrt_core_list feeders;
    _Atomic uint32_t n_watches; /* cores that wait for events, or are about to */
    _Atomic uint32_t n_held;  /* streams whose next launch has not begun; written under the lock */
    _Atomic uint32_t n_fresh; /* of `fresh`; likewise */
    _Atomic uint32_t n_idle;  /* workers; likewise */
    _Atomic uint32_t n_naps;  /* of these, those that nap; likewise */
    _Atomic uint32_t n_sleepers; /* of these, the others; likewise */
    bool calling;                /* an idle worker was told of work and has not got up yet */
    atomic_bool polling;         /* a sleeping thread looks after events; written under the lock */
    bool closing;
    bool settled;        /* nothing of the queue can run any more */
    atomic_bool stopped; /* cores halt at their next instruction; written under the lock */

    /* What the scheduler asks of those above it. A core begins, or goes on without a stack; returns
     * whether it has finished: else it is blocked and has left its stack. With the lock: a core has
     * finished; nothing runs and nothing is ready. */
    bool (*core_run)(struct skrt_core *core);
    void (*core_ended)(struct skrt_core *core);
    void (*came_to_rest)(struct skrt_device *device);
};

static inline void skrt_lock(struct skrt_device *device)
{
    pthread_mutex_lock(&device->lock);
    device->locked = true;
}

static inline void skrt_unlock(struct skrt_device *device)
{
    assert(device->locked);
    device->locked = false;
    pthread_mutex_unlock(&device->lock);
}

/* Lets others have the lock until `condition` is signalled or, unless that is NULL, until a time of
 * the monotonic clock. Returns whether that is still to come. */
static inline bool skrt_unlocked_wait(struct skrt_device *device, pthread_cond_t *condition,
                                      const struct timespec *until)
{
    assert(device->locked);
    device->locked = false;
    int error = until ? pthread_cond_timedwait(condition, &device->lock, until)
                      : pthread_cond_wait(condition, &device->lock);
    device->locked = true;
    return error != ETIMEDOUT;
}

#pragma GCC visibility pop

#endif
