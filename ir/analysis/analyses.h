/* What passes work out about graphs, kept until a pass changes them: found when first asked for,
 * once for all passes that follow and only read. */
#ifndef IR_ANALYSIS_ANALYSES_H
#define IR_ANALYSIS_ANALYSES_H

#include "ir/analysis/dep_graph.h"
#include "ir/analysis/launch_order.h"

struct graph_analyses;

/* Zero-initialised when empty. */
struct analyses {
    struct graph_analyses **at; /* by graph */
    uint32_t count, capacity;
    struct effects *effects; /* of graphs that others call; NULL while nobody has asked */
};

/* Of a graph of the module, verified. Valid until analyses_drop; to be read only. */
const struct order *analyses_order(struct analyses *analyses, const struct module *module,
                                   const struct graph *graph);
const struct members *analyses_members(struct analyses *analyses, const struct module *module,
                                       const struct graph *graph);

/* For who will ask for all of them: by threads, where the module has some, what is missing of any
 * graph. */
void analyses_make_orders(struct analyses *analyses, const struct module *module);
void analyses_make_members(struct analyses *analyses, const struct module *module);

/* Forgets all: graphs have changed. */
void analyses_drop(struct analyses *analyses);

/* Whether what is kept is what the module's graphs give: for assertions, as it costs what the
 * analyses cost. */
bool analyses_hold(const struct analyses *analyses, const struct module *module);

#endif
