/* Flags and gaps of a plan at work; passes/sync/plan/plan.h is for others. */
#ifndef PASSES_SYNC_PLAN_PLACEMENT_H
#define PASSES_SYNC_PLAN_PLACEMENT_H

#include "passes/sync/plan/plan.h"

/* Set in a gap of the sender's list, waited for in one of the other. Where `barrier` is set, there
 * is a barrier before the set, so that each receiver hears of all senders; else of those of its own
 * AI core, and a barrier of the receivers may spread that. */
struct flag {
    uint32_t set, wait;
    uint32_t demanded; /* the set that is asked for at `wait`; behind it, the flag orders more */
    bool barrier;
};

/* In order: both numbers never fall. */
struct flags {
    struct flag *at;
    uint32_t count, capacity;
};

/* How many nodes of each list are complete, as far as a core knows: on all cores, and on those of
 * its own AI core. */
struct known {
    uint32_t all[CORE_TYPES], own[CORE_TYPES];
};

/* What comes of a gap. */
struct outcome {
    struct known sent;  /* what its sets pass on */
    struct known start; /* what is known when the node behind it starts */
    bool early;         /* a barrier stands before the sets */
    bool barrier, drain;
    bool late; /* barrier and sets stand behind the waits */
    bool busy; /* behind the node, the core's pipes may be */
};

struct spot {
    uint32_t set, wait; /* the first flags that are set, and waited for, here or behind */
    uint32_t asked;     /* flags with `barrier` that are set here */
    bool first;         /* waits stand before the sets */
    bool gather;        /* and a barrier between them, that spreads what they bring */
    bool replaces;      /* a barrier stands here for a drain and a later barrier */
    struct outcome now;
};

/* What stood in a gap before a trial. */
struct trace {
    int core;
    uint32_t gap;
    struct outcome was;
};

/* Where the calculation of outcomes stands. The head of a gap is all up to its sets, and can be
 * done before the rest: when the other list waits for them. */
struct progress {
    uint32_t taken[CORE_TYPES]; /* gaps that are done */
    bool headed[CORE_TYPES];    /* the head of the next one is done */
    uint32_t until[CORE_TYPES]; /* gaps from here on need not be done */
    bool failed;                /* a need is not met */
    bool trial;                 /* what stood in gaps is kept, in the order of change: */
    VEC(struct trace) traces;
};

struct planner {
    struct sync_plan *plan;
    struct flags flags[CORE_TYPES]; /* by the type of the sender */
    struct spot *spots[CORE_TYPES]; /* by gap */
    bool narrow;                    /* some nodes need those of their own AI core alone */
    struct progress progress;
};

/* The list whose node comes next in time, given how many of each have been taken; CORE_TYPES where
 * there is none. */
int sync_next_list(const struct sync_plan *plan, const uint32_t *taken);

/* Finds the flags that orders between the lists need, none of which can overflow. */
void sync_find_flags(struct planner *planner);
/* Makes the gaps for the flags as they are. */
void sync_fill_gaps(struct planner *planner);

/* Gaps whose flags or barriers are changed on trial: per list the first and the last. */
struct change {
    uint32_t first[CORE_TYPES], last[CORE_TYPES]; /* first > last: none */
    bool even;                                    /* correct and no dearer will do */
};
/* Makes the gaps again that the change concerns. Where that is correct and cheaper, true; else all
 * gaps are as before. */
bool sync_refill_gaps(struct planner *planner, const struct change *change);

static inline bool sync_has_sets(const struct planner *planner, int core, uint32_t gap)
{
    const struct flags *flags = &planner->flags[core];
    uint32_t first = planner->spots[core][gap].set;
    return first < flags->count && flags->at[first].set == gap;
}

static inline bool sync_has_waits(const struct planner *planner, int core, uint32_t gap)
{
    const struct flags *flags = &planner->flags[1 - core];
    uint32_t first = planner->spots[core][gap].wait;
    return first < flags->count && flags->at[first].wait == gap;
}

#endif
