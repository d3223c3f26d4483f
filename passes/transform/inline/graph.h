/* A graph in which calls are replaced by the ops of the graphs that they call. What orders two ops
 * before orders them after, and nothing else does: what a call waits for, the first ops of its
 * graph wait for, and what waits for a call waits for the last ones. */
#ifndef PASSES_TRANSFORM_INLINE_GRAPH_H
#define PASSES_TRANSFORM_INLINE_GRAPH_H

#include "ir/analysis/launch_order.h"
#include "ir/support/ids.h"

/* Of a graph that is called: the ops that execute something and come behind (before) no other such
 * op of the graph. */
struct inline_ends {
    struct vec_u32 first, last;
};

void inline_ends_find(struct inline_ends *ends, const struct module *module,
                      const struct graph *graph, struct effects *effects);
void inline_ends_free(struct inline_ends *ends);

/* What becomes of the ops of a graph. */
struct inline_plan {
    struct module *module;
    const struct order *order; /* of the graph */
    /* By op: the index of the graph that takes its place, or NONE. */
    const uint32_t *callee;
    const struct inline_ends *const *ends; /* by graph */
    /* By event: the block that sends it or receives it as a whole, or NONE. */
    const struct id_map *launch_sends, *launch_receives;
};

/* Makes the graph anew, in its place. */
void inline_graph(const struct inline_plan *plan, struct graph *graph);

#endif
