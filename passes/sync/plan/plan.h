/* Where barriers and flags stand between the calls of an entry: the algorithm behind insert-syncs.
 *
 * An entry is two lists, one for each core type, of nodes: its calls, and what else takes part in
 * the order (waits and notifications of outer events, choices of dynamic kernels). A node needs, of
 * each list, that so many nodes from its beginning are complete on all cores. Synchronisation
 * stands in gaps: gap g is before node g, and the last is behind all nodes. */
#ifndef PASSES_SYNC_PLAN_PLAN_H
#define PASSES_SYNC_PLAN_PLAN_H

#include "ir/core/module.h"

struct sync_node {
    uint32_t instr; /* its index in the program */
    /* Orders the nodes of both lists, as one execution of them that satisfies all needs: equal
     * times are of nodes that do not need one another. Does not decrease along a list. */
    uint64_t time;
    uint32_t need[CORE_TYPES]; /* on all cores */
    uint32_t own[CORE_TYPES];  /* on those of the own AI core, which alone take part */
    bool call;                 /* runs on the core's pipes until drained */
    bool select;               /* of a dynamic kernel: needs nothing, and all cores take part */
    bool settled;              /* such a one that is drained at once */
    bool drained;              /* the calls before it must be drained on its own core */
    /* It is one part of a call that uses both flags itself: none may be outstanding there. Such
     * nodes come in pairs, the n-th of one list and that of the other. */
    bool full;
};

/* What a gap has, in this order: waits, where all else is late; barrier, or drain if there are
 * sets; sets; waits otherwise; drain if there are no sets. */
struct sync_gap {
    bool barrier, drain;
    bool late; /* barrier and sets pass on what the waits bring */
    uint8_t sets, waits;
};

struct sync_list {
    struct sync_node *at;
    uint32_t count, capacity;
    struct sync_gap *gaps; /* count + 1 */
};

struct sync_plan {
    struct sync_list lists[CORE_TYPES];
    bool early_flags; /* flags are set behind a barrier, and no barrier is late */
};

/* Finds the gaps of a plan whose nodes are given. Time is O(n log n). */
void sync_plan_make(struct sync_plan *plan);
void sync_plan_free(struct sync_plan *plan);

#endif
