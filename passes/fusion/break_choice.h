/* Which group to break next: of the first few that could, the one that comes with the fewest
 * launches, and of these, by looking some breaks ahead, the one that lets most ops go early. What
 * that costs does not depend on the size of the graph. */
#ifndef PASSES_FUSION_BREAK_CHOICE_H
#define PASSES_FUSION_BREAK_CHOICE_H

#include "passes/fusion/schedule.h"

/* Room to work in, for a schedule. */
struct break_choice {
    struct schedule *schedule;
    uint8_t *gone;         /* per op: it is scheduled in what is tried */
    uint32_t *next, *head; /* per op, per group: the ops that became ready there */
    struct vec_u32 log;    /* ops that are gone, in order */
    struct vec_u32 free, whole, groups;
};

void break_choice_init(struct break_choice *break_choice, struct schedule *schedule);
void break_choice_free(struct break_choice *break_choice);

/* Of the groups in a heap of the schedule, which has one, the one to break where nothing can go as
 * a whole. */
uint32_t break_choice_find(struct break_choice *break_choice, struct heap *partial);

#endif
