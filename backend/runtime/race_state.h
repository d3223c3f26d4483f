/* The state of the race check, for its two files: what cores know (race.c), and what is found at
 * calls (race_find.c).
 *
 * Each core has a clock: for every core of the launch, how many of its calls are known to be
 * complete there. Its own number says what has drained, which is all that a flag or an event passes
 * on; an arrival passes on every call before it. Barriers, flags and events carry copies of clocks
 * to whom they release. What a core knows at a call does not depend on the order in which cores
 * ran, apart from events: so neither does the verdict.
 *
 * Everything here needs the device's lock. Whoever releases a blocked core changes its clock.
 */
#ifndef BACKEND_RUNTIME_RACE_STATE_H
#define BACKEND_RUNTIME_RACE_STATE_H

#include "backend/runtime/core.h"
#include "backend/runtime/race.h"

#pragma GCC visibility push(hidden)

enum { SKRT_MAX_FINDINGS = 20 }; /* that are kept; all are counted */

/* A copy of what a core knew, on its way to others. */
struct skrt_clock {
    struct skrt_clock *next;  /* the following round or release, or in the free list */
    struct skrt_clock *older; /* all of the launch are linked by this */
    uint32_t left;            /* of a barrier's round: cores that have not awaited it yet */
    uint32_t known[];         /* by core */
};

struct skrt_releases {
    struct skrt_clock *first, *last;
};

/* An event that a core of the launch has sent. */
struct skrt_event {
    struct skrt_event *next;
    const void *word;
    struct skrt_clock *clock;
};

struct skrt_knowledge {
    uint32_t *known;    /* by core: calls that are complete; for itself: that have drained */
    uint32_t undrained; /* the number of its last call if that may not have drained; else 0 */
    struct skrt_clock *arrival, *awaited; /* the rounds that it arrives at, and awaits, next */
    /* An AIV's only, for both directions. Flags of sub-kernels order nothing outside. */
    struct skrt_releases releases[SKRT_ENTRY_FLAGS];
};

/* What was not known at a call, on all cores where it was not. */
struct skrt_finding {
    uint32_t op, before;
    enum skrt_core_type type, before_type;
    bool undrained; /* `before` is the call before on the same core, which has not drained */
    bool *missing;  /* by core of `type`, and by core of `before_type` */
};

struct skrt_race {
    const struct skrt_job *job;
    const struct skrt_race_check *check;
    uint32_t cores;
    uint32_t *words; /* `known` of all cores */
    struct skrt_knowledge *states;
    struct skrt_clock *clocks, *free_clocks;
    struct skrt_event *events;

    uint32_t *number[SKRT_CORE_TYPES];      /* by op: that of its call; 0: none */
    struct skrt_call *ran[SKRT_CORE_TYPES]; /* by call: as it was executed; 0 blocks: not yet */
    uint32_t *first, *orders; /* orders of op i: orders[first[i]] .. orders[first[i + 1] - 1] */

    uint8_t *found;                    /* by order: a bit for each pair of core types */
    uint8_t *found_undrained;          /* by op: a bit for each core type */
    uint32_t broken, undrained, total; /* orders, ops, and all bits */
    uint32_t n_findings;
    struct skrt_finding
        findings[SKRT_MAX_FINDINGS]; /* the first ones, in the order of finding_compare */
};

/* There is no memory for what the core does: it fails. */
_Noreturn void skrt_race_exhausted(struct skrt_core *core);

static inline struct skrt_race *skrt_race_of(const struct skrt_core *core)
{
    assert(core->device->locked && core->job->race);
    return core->job->race;
}

/* A core's number among all of the launch. */
static inline uint32_t skrt_race_id(const struct skrt_race *race, enum skrt_core_type type,
                                    uint32_t index)
{
    assert(index < race->job->launched[type]);
    return type == SKRT_AIC ? index : race->job->launched[SKRT_AIC] + index;
}

static inline struct skrt_knowledge *skrt_race_state(const struct skrt_core *core)
{
    struct skrt_race *race = skrt_race_of(core);
    return &race->states[skrt_race_id(race, core->type, core->index)];
}

/* The op of a call, and the call as it was executed, by its number. */
static inline uint32_t skrt_race_op(const struct skrt_race *race, enum skrt_core_type type,
                                    uint64_t number)
{
    assert(0 < number && number <= race->check->n_calls[type]);
    return race->check->calls[type][number - 1];
}

static inline struct skrt_call *skrt_race_ran(const struct skrt_race *race,
                                              enum skrt_core_type type, uint64_t number)
{
    assert(0 < number && number <= race->check->n_calls[type]);
    return &race->ran[type][number - 1];
}

#pragma GCC visibility pop

#endif
