/* Expectations of some lines of a text. */
#ifndef FRONTEND_GOLDEN_GOLDEN_LINES_H
#define FRONTEND_GOLDEN_GOLDEN_LINES_H

#include "frontend/golden/golden.h"

/* Compares a section of GOLDEN_LINES with the text of `check`, and sets the result there. Adds what
 * is wrong to `report`, and what names stand for to `captures`. */
void golden_compare_lines(struct golden_section *section, struct golden_check *check,
                          struct captures *captures, struct text *report);

#endif
