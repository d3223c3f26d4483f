/* Homes of cores: where they wait for barriers and become ready. What is not said to be for
 * everybody needs the home's gate. */
#ifndef BACKEND_RUNTIME_HOME_H
#define BACKEND_RUNTIME_HOME_H

#include "backend/runtime/state.h"

#pragma GCC visibility push(hidden)

static inline void skrt_list_push(struct skrt_core_list *list, struct skrt_core *core)
{
    core->next = NULL;
    if (list->first)
        list->last->next = core;
    else
        list->first = core;
    list->last = core;
}

static inline struct skrt_core *skrt_list_pop(struct skrt_core_list *list)
{
    struct skrt_core *core = list->first;
    if (core)
        list->first = core->next;
    return core;
}

/* The home of a block's cores, and what the launch of a core has there. */
static inline struct skrt_home *skrt_home_of_block(const struct skrt_job *job, uint32_t block)
{
    return &job->device->homes[(block + job->stream) % job->device->n_homes];
}

static inline struct skrt_half *skrt_half_of(const struct skrt_core *core)
{
    return &core->job->parts[core->home - core->device->homes].halves[core->type];
}

/* How many of the first `n` cores of a type are at home there. */
static inline uint32_t skrt_home_cores(const struct skrt_job *job, enum skrt_core_type type,
                                       uint32_t n, uint32_t home)
{
    uint32_t per_block = type == SKRT_AIC ? job->launch->aics : job->launch->aivs;
    uint32_t homes = job->device->n_homes;
    if (n == 0 || home >= homes)
        return 0;
    uint32_t first = (home + homes - job->stream % homes) % homes; /* of the blocks */
    uint32_t blocks = n / per_block, more = blocks % homes == first ? n % per_block : 0;
    return more + (blocks > first ? (blocks - first - 1) / homes + 1 : 0) * per_block;
}

/* Whether there is something that the home has not seen yet. For everybody. */
static inline bool skrt_home_has_news(const struct skrt_home *home)
{
    return atomic_load_explicit(&home->signals, memory_order_acquire) !=
           atomic_load_explicit(&home->seen, memory_order_relaxed);
}

/* Tells the home's worker to look. For everybody. */
void skrt_home_signal(struct skrt_home *home);
/* Has a core that is blocked, and in no list, go on. For everybody. */
void skrt_home_post(struct skrt_core *core);
/* Does so with all of a list, and empties it. For who has the device's lock. */
void skrt_home_post_all(struct skrt_device *device, struct skrt_core_list *list);

/* Makes a core ready that is blocked, or new, and in no list. */
void skrt_home_ready(struct skrt_core *core);
/* Sees to all news. */
void skrt_home_collect(struct skrt_home *home);
/* The next core, which runs from now on; or NULL. */
struct skrt_core *skrt_home_take(struct skrt_home *home);

/* `n` cores of the half that have arrived at all rounds before this one arrive at it. Returns
 * whether all have now, which the others are to be told. */
static inline bool skrt_half_count(struct skrt_half *half, uint64_t round, uint32_t n)
{
    uint16_t *from = &half->at[round % SKRT_ROUNDS];
    assert(round >= half->arrived && *from >= n);
    half->at[(round + 1) % SKRT_ROUNDS] += (uint16_t)n;
    *from -= (uint16_t)n;
    return *from == 0 && round == half->arrived;
}

/* All cores that the barrier includes and that are at home there have not arrived yet. */
void skrt_half_init(struct skrt_half *half, struct skrt_barrier *barrier, uint32_t cores);
/* Those that feed the barrier have come: they have arrived at all rounds. For everybody, once. */
void skrt_barrier_feed(const struct skrt_core *core, struct skrt_barrier *barrier);
/* All cores of the core's home have arrived once more. */
void skrt_half_tell(const struct skrt_core *core, struct skrt_half *half);
/* Makes those ready whose round is complete and that have something to do before the next await. */
void skrt_half_release(struct skrt_half *half);
/* A core waits for the round that is not complete yet, after `released`. */
void skrt_half_wait(struct skrt_half *half, struct skrt_core *core);
/* Brings all that rest up to date: they wait as others do. */
void skrt_half_settle(struct skrt_home *home);

#pragma GCC visibility pop

#endif
