/* One expectation of what a command prints, held against it. */
#ifndef FRONTEND_GOLDEN_GOLDEN_CHECK_H
#define FRONTEND_GOLDEN_GOLDEN_CHECK_H

#include "frontend/golden/golden.h"
#include "frontend/golden/golden_lines.h"

/* What the section is about. */
struct golden_actual {
    struct part text;
    uint32_t first;      /* number of its first line in what was printed */
    struct text changes; /* where it is these */
};

/* False where there is no such part; adds to `report` what is wrong then. */
bool golden_actual_find(struct golden_actual *actual, const struct golden_section *section,
                        const struct golden_outcome *outcome, struct text *report);
void golden_actual_free(struct golden_actual *actual);

/* Whether the outcome is as the section says; adds to `report` what is wrong, and to `captures`
 * what names stand for, in the outcome. `repairs` as for golden_judge_lines. */
bool golden_check_section(const struct golden_section *section,
                          const struct golden_outcome *outcome, struct captures *captures,
                          struct text *report, struct golden_repairs *repairs);

#endif
