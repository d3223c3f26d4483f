/* List scheduling of a graph with groups: ops of one group follow each other as long as any of them
 * is ready. What is scheduled in one go is a segment. The schedule is a topological order of
 * segments and single ops, so contracting segments never makes a cycle. */
#ifndef PASSES_PARTITION_SCHEDULE_H
#define PASSES_PARTITION_SCHEDULE_H

#include "ir/analysis/dep_graph.h"
#include "ir/support/heap.h"

enum { GROUP_NONE = 0 }; /* ops that are not to be fused */

/* What it costs to leave a group unfinished. Groups of a higher rank break only where no others can
 * instead. `first` and `more` are the launches that come with its first break, and with each
 * other. */
struct break_cost {
    enum { BREAK_FREELY, BREAK_STRICT, BREAK_FIXED, BREAK_RANKS } rank;
    uint32_t first, more;
};

struct schedule_group {
    uint32_t waits; /* edges from unscheduled ops of other groups to unscheduled ops of this one */
    uint32_t left;  /* unscheduled ops */
    uint32_t work;  /* of them those that may not leave*/
    uint32_t segments;
    struct break_cost cost;
    struct heap ready; /* its ready ops by text position */
};

/* A run of the schedule: of one group, or (GROUP_NONE) one op. When parts are merged, segments with
 * the same number of a component, next to each other, run in parallel: the ops of each are not next
 * to each other in the order of the text. 0: the segment runs alone. */
struct segment {
    uint32_t group, first, count;
    uint32_t component;
    uint32_t stream; /* of one that does not run alone: its label, or NONE */
};

/* The edges of an order, by the op that they come from: ops that wait for op i are
 * at[first[i]] .. at[first[i + 1] - 1]. */
struct order_users {
    uint32_t *first, *at;
};
void order_users_init(struct order_users *users, const struct order *order);
void order_users_free(struct order_users *users);

struct schedule {
    const struct order *order;
    uint32_t *group_of; /* per op */
    uint32_t n_groups;
    struct schedule_group *groups;
    uint32_t *ops;   /* the schedule */
    uint32_t *place; /* per op: its index in the schedule, NONE while it is not scheduled */
    uint32_t count;
    struct segments {
        struct segment *at;
        uint32_t count, capacity;
    } segments;
    /* Working state. */
    uint32_t open;   /* the group that is being scheduled, or GROUP_NONE */
    uint32_t *needs; /* per op: unscheduled predecessors, with multiplicity */
    struct order_users users;
    struct heap free_ops; /* ready ops outside of groups, by text position */
    struct heap leaving;  /* ready ops of groups that may leave them, the same */
    struct heap whole;    /* groups that wait for nothing, by text position of a ready op */
    /* By rank: groups that have a ready op and may break, the same. */
    struct heap partial[BREAK_RANKS];
};

/* Schedules all ops of an acyclic order. Groups are 1 .. n_groups - 1. Among what can go next, what
 * stands first in the text goes first; a group is left unfinished only when nothing else can go:
 * then some op outside needs a part of a group, and another part needs that op. It is one of the
 * lowest rank that there is (`costs`, by group).
 *
 * A group is not broken for ops that may leave it: where it would be, they do, and `group_of` says
 * so. Each segment of a group has an op that may not. */
void schedule_init(struct schedule *schedule, const struct order *order, uint32_t *group_of,
                   uint32_t n_groups, const struct break_cost *costs);
void schedule_free(struct schedule *schedule);

#endif
