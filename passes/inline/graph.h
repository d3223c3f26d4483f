/* A graph in which calls are replaced by the ops of the graphs that they call. What orders two ops
 * before orders them after, and nothing else does: what a call waits for, the first ops of its
 * graph wait for, and what waits for a call waits for the last ones. */
#ifndef PASSES_INLINE_GRAPH_H
#define PASSES_INLINE_GRAPH_H

#include "ir/order.h"
#include "passes/inline/stamped.h"

/* Of a graph that is called: the ops that execute something and come behind (before) no other such
 * op of the graph. */
struct inline_ends {
    struct vec_u32 first, last;
};

void inline_ends_find(struct inline_ends *ends, const struct module *module,
                      const struct graph *graph, struct effects *effects);
void inline_ends_free(struct inline_ends *ends);

enum name_kind { NAME_STREAM, NAME_SCOPE, NAME_EVENT, NAME_KINDS };

/* Names of the graph at work: room for those of all graphs, one after another. Zero-initialised is
 * empty. */
struct inline_names {
    struct stamped taken_values, taken[NAME_KINDS];
    struct stamped renamed[NAME_KINDS]; /* new names by old ones, of the call at work */
};

void inline_names_free(struct inline_names *names);

/* What becomes of the ops of a graph. */
struct inline_plan {
    struct module *module;
    const struct order *order; /* of the graph */
    /* By op: the index of the graph that takes its place, or NONE. */
    const uint32_t *callee;
    const struct inline_ends *const *ends; /* by graph */
    /* By event: the block that sends it or receives it as a whole, or NONE. */
    const struct id_map *launch_sends, *launch_receives;
    struct inline_names *names;
};

/* Makes the graph anew, in its place. */
void inline_graph(const struct inline_plan *plan, struct graph *graph);

#endif
