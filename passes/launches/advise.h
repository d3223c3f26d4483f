/* Orders between launches that would make changes of them needless: for those who ask what else to
 * do. Each is tried before it is told. */
#ifndef PASSES_LAUNCHES_ADVISE_H
#define PASSES_LAUNCHES_ADVISE_H

#include "passes/launches/mend.h"

/* `behind` waits for the end of `first` before it starts: rows. */
struct launch_advice {
    uint32_t first, behind;
};

/* An order of two of these rows after which no launch hangs, though `most` are cut at most, and the
 * row (or NONE) is not: then only orders of that one are tried. `tries` is how many may be tried,
 * and becomes how many are left. False: there is none, as far as was tried. */
bool launches_advise(struct launch_advice *advice, const struct launch_table *table,
                     const uint32_t *rows, uint32_t count, uint32_t row, uint32_t most,
                     uint32_t *tries);

/* A row as it might be. */
struct launch_change {
    uint32_t row;
    enum block_shape shape;
    uint32_t blocks;
    bool open; /* it may be cut, or wait as a whole */
};

/* Whether no launch hangs with these changes, though `most` are cut at most, and the row `uncut`
 * (or NONE) is not. */
bool launches_do_with(const struct launch_table *table, const struct launch_change *changes,
                      uint32_t count, uint32_t uncut, uint32_t most);

/* Whether no launch hangs where this one, which is sealed, may be cut, or wait as a whole: `mends`,
 * to be freed in any case, becomes what is done to it. */
bool launches_do_open(const struct launch_table *table, uint32_t row, struct mends *mends);

/* Whether any of these rows could come behind another as a whole. Like launches_advise it takes
 * from `tries`. */
bool launches_can_follow(const struct launch_table *table, const uint32_t *rows, uint32_t count,
                         uint32_t *tries);

/* The table with that order, to be freed; an event is new. Rows of NONE: the table as it is. */
void launch_table_ordered(struct launch_table *to, const struct launch_table *from,
                          struct launch_advice order);

#endif
