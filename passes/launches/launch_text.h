/* Launches, and states in which they hang, in words. */
#ifndef PASSES_LAUNCHES_LAUNCH_TEXT_H
#define PASSES_LAUNCHES_LAUNCH_TEXT_H

#include "ir/base/text.h"
#include "passes/launches/deadlock_search.h"
#include "passes/launches/graph_launches.h"

/* "'@g_s'", "Add %c". */
void launch_name(struct text *text, const struct graph_launches *launches, uint32_t row);
/* "1 AIC and 2 AIVs": of so many blocks. */
void launch_cores(struct text *text, enum block_shape shape, uint64_t blocks);

/* Lines about rows; a row of NONE is about none. */
struct launch_lines {
    struct launch_line {
        uint32_t row;
        char *text;
    } * at;
    uint32_t count, capacity;
};
void launch_lines_free(struct launch_lines *lines);

/* The account of a row: "3: '@g_s' on stream "1", cube, 24 AICs at once; waits ...". */
void describe_row(struct text *text, const struct graph_launches *launches, uint32_t row);

/* Of the state that hangs: a line for each stream that is not over, then how it was reached. */
void describe_state(struct launch_lines *lines, const struct graph_launches *launches,
                    const struct search *search);
/* Of a wait cycle with these positions: a line for each launch of it. */
void describe_cycle(struct launch_lines *lines, const struct graph_launches *launches,
                    const struct queue *queue, const uint32_t *positions);

#endif
