/* Which group to break next: of the first few that could, the one that comes with the fewest
 * launches, and of these, by looking some breaks ahead, the one that lets most ops go early. What
 * that costs does not depend on the size of the graph. */
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

/* Of the groups in a heap of the schedule, which has one, the one to break where nothing can go as
 * a whole. */
uint32_t lookahead_choose(struct lookahead *lookahead, struct heap *partial);

#endif
