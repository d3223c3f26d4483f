/* Which groups break where not all of them can be scheduled whole: those whose breaking costs least
 * (struct break_cost). Found by a search of all choices, as far as its budget goes, which does for
 * small knots; beyond that nothing is planned. */
#ifndef PASSES_FUSION_BREAKS_H
#define PASSES_FUSION_BREAKS_H

#include "passes/fusion/knots.h"

/* Of a group that is to break: once, or as often as there is something left of it. */
struct planned_break {
    uint32_t group;
    bool to_the_end;
};

struct breaks {
    struct planned_break *at;
    uint32_t count, capacity;
    uint32_t next;
};

/* For a schedule where nothing can go as a whole, and no group is broken yet: what is to be broken
 * whenever that is so. */
void breaks_plan(struct breaks *breaks, const struct schedule *schedule, uint64_t budget);
void breaks_free(struct breaks *breaks);

#endif
