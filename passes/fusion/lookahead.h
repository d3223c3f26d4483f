/* Which group to break next, by looking some breaks ahead: of the first few groups that could, the
 * one that lets most ops go early. For what is too large to be planned (passes/fusion/breaks.h):
 * what it costs does not depend on how many ops there are behind. */
#ifndef PASSES_FUSION_LOOKAHEAD_H
#define PASSES_FUSION_LOOKAHEAD_H

#include "passes/fusion/schedule.h"

/* Room to work in, for a schedule. */
struct lookahead {
    struct schedule *schedule;
    uint8_t *gone;         /* per op: it is scheduled in what is tried */
    uint32_t *next, *head; /* per op, per group: the ops that became ready there */
    struct vec_u32 log;    /* ops that are gone, in order */
    struct vec_u32 free, whole, groups;
};

void lookahead_init(struct lookahead *lookahead, struct schedule *schedule);
void lookahead_free(struct lookahead *lookahead);

/* The group to be broken where nothing can go as a whole; `partial` of the schedule has one. */
uint32_t lookahead_choose(struct lookahead *lookahead);

#endif
