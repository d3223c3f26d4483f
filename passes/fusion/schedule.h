/* List scheduling of a graph with groups: ops of one group follow each other as long as any of them
 * is ready. What is scheduled in one go is a segment. The schedule is a topological order of
 * segments and single ops, so contracting segments never makes a cycle. */
#ifndef PASSES_FUSION_SCHEDULE_H
#define PASSES_FUSION_SCHEDULE_H

#include "ir/base/heap.h"
#include "ir/order.h"

enum { GROUP_NONE = 0 }; /* ops that are not to be fused */

struct schedule_group {
    uint32_t waits; /* edges from unscheduled ops of other groups to unscheduled ops of this one */
    uint32_t left;  /* unscheduled ops */
    uint32_t segments;
    bool fixed;        /* breaks only where nothing else can: a super kernel of the input */
    struct heap ready; /* its ready ops by text position */
};

/* A run of the schedule: of one group, or (GROUP_NONE) one op. */
struct segment {
    uint32_t group, first, count;
};

struct schedule {
    const struct order *order;
    const uint32_t *group_of; /* per op */
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
    uint64_t budget; /* steps that looking for the right group to break may still take */
    uint32_t *members, *member_first; /* ops by group in text order, like users */
    uint32_t *needs;                  /* per op: unscheduled predecessors, with multiplicity */
    uint32_t *users, *user_first;     /* successors of op i: users[user_first[i]] .. */
    struct heap free_ops;             /* ready ops outside of groups, by text position */
    struct heap whole;   /* groups that wait for nothing, by text position of a ready op */
    struct heap partial; /* groups that have a ready op and may break, the same */
    struct heap fixed;   /* those that have one and should not */
};

/* Schedules all ops of an acyclic order. Groups are 1 .. n_groups - 1. Among what can go next, what
 * stands first in the text goes first; a group is left unfinished only when nothing else can go:
 * then some op outside needs a part of a group, and another part needs that op. A group that is
 * `fixed` (by group) is left unfinished only if every ready op is of such a group. */
void schedule_init(struct schedule *schedule, const struct order *order, const uint32_t *group_of,
                   uint32_t n_groups, const uint8_t *fixed);
void schedule_free(struct schedule *schedule);

#endif
