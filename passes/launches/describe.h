/* Launches, and the state in which they hang, in words. */
#ifndef PASSES_LAUNCHES_DESCRIBE_H
#define PASSES_LAUNCHES_DESCRIBE_H

#include "ir/base/text.h"
#include "passes/launches/explore.h"
#include "passes/launches/graph.h"

/* What rows, events and streams are called. */
struct launch_names {
    const void *user;
    void (*row)(struct text *text, const void *user, uint32_t row);
    void (*event)(struct text *text, const void *user, uint32_t event);
    void (*stream)(struct text *text, const void *user, uint32_t stream);
};

/* Those of a graph: "'@g_s'", "Add %c". The launches must outlive them. */
struct launch_names graph_launch_names(const struct graph_launches *launches);

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
void describe_row(struct text *text, const struct launch_names *names,
                  const struct launch_table *table, uint32_t row);

/* Of the state that an explorer has found: a line for each stream that is not over, then, with
 * `way`, how it was reached. */
void describe_state(struct launch_lines *lines, const struct launch_names *names,
                    const struct explorer *explorer, bool way);
/* Of a circle: a line for each launch of it. */
void describe_circle(struct launch_lines *lines, const struct launch_names *names,
                     const struct queue *queue, const struct queue_circle *circle);

#endif
