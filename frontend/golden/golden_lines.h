/* Expectations of some lines of a text. */
#ifndef FRONTEND_GOLDEN_GOLDEN_LINES_H
#define FRONTEND_GOLDEN_GOLDEN_LINES_H

#include "frontend/golden/golden.h"
#include "frontend/golden/golden_part.h"

/* What an item is to be instead, to hold: by item, text NULL where it holds. */
struct golden_repairs {
    struct part *at;
    uint32_t *times; /* for ITEM_TIMES; 0 where it holds */
};

/* Whether the text, which begins with the line `first` of what was printed, has the lines of the
 * section; adds to `report` what is wrong, and to `captures` what names stand for. With `repairs`,
 * finds what would hold, and returns whether all that is wrong can be mended so. */
bool golden_judge_lines(const struct golden_section *section, struct part text, uint32_t first,
                        struct captures *captures, struct text *report,
                        struct golden_repairs *repairs);

#endif
