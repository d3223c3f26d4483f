/* Knots: ops that cannot be scheduled with every group whole. In the graph that has one node for
 * each group, and one for each op outside of groups, a knot is a strongly connected component of
 * two nodes or more: each of its groups waits, in the end, for a part of itself. */
#ifndef PASSES_FUSION_KNOTS_H
#define PASSES_FUSION_KNOTS_H

#include "passes/fusion/schedule.h"

/* Ops in text order, none of them scheduled: all that is left of each group among them. */
struct knot {
    uint32_t *ops, count;
    uint32_t groups; /* how many */
};

/* In an order in which they can be scheduled, one after the other. */
struct knot_list {
    struct knot *at;
    uint32_t count, capacity;
};

/* Room to work in, for knots of one schedule. */
struct knots {
    const struct schedule *schedule;
    uint64_t work; /* ops and edges that were looked at */
    uint32_t generation;
    uint32_t *in; /* per op: the generation of the set that it is in */
    uint32_t *needs, *next;
    uint32_t *group_in, *waits, *ready; /* per group, like `in`; ready and next are lists of ops */
    uint32_t *size,
        *left; /* per group: its ops in the set; of what is left, those that must stay */
    struct vec_u32 whole, leaving;
    uint32_t *node_of, *group_node; /* per op, per group */
};

void knots_init(struct knots *knots, const struct schedule *schedule);
void knots_free(struct knots *knots);

/* Appends the knots among these ops, which stand in text order: what is not among them is scheduled
 * before, or needs them. */
void knots_find(struct knots *knots, const uint32_t *ops, uint32_t count, struct knot_list *found);
void knot_list_free(struct knot_list *list);

/* The groups of a knot that have an op which is ready, in text order of these; `size` and `left`
 * are then those of the knot. */
void knot_choices(struct knots *knots, const struct knot *knot, struct vec_u32 *groups);
/* Whether all of the group that may not leave it can go at once: then it does not break. */
bool knot_spares(struct knots *knots, const struct knot *knot, uint32_t group);
/* How often the group of a knot that has only one must break. */
uint32_t knot_breaks(struct knots *knots, const struct knot *knot, uint32_t group);
/* Breaks the group: schedules what can go of it, then all that can go whole, or leave.
 * `rest` receives what is
 * left of the knot. */
void knot_break(struct knots *knots, const struct knot *knot, uint32_t group, struct vec_u32 *rest);

#endif
