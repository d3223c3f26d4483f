/* What passes say of launches: where they are, what they are called, and which changes would help.
 * Each change is tried on the launches of the graph before it is proposed. */
#ifndef PASSES_LAUNCHES_LAUNCH_ADVICE_H
#define PASSES_LAUNCHES_LAUNCH_ADVICE_H

#include "passes/context.h"
#include "passes/launches/deadlock_search.h"
#include "passes/launches/graph_launches.h"

/* The launches of a graph, and who works on them. */
struct launch_advisor {
    struct pass_context *context;
    const struct module *module;
    const struct graph *graph;
    struct graph_launches launches;
    uint32_t tries; /* changes that may still be tried */
};

void launch_advisor_init(struct launch_advisor *advisor, struct pass_context *context,
                         struct called_launches *called, const struct graph *graph);
void launch_advisor_free(struct launch_advisor *advisor);

/* Where a launch is in the text, as far as it has a place; how a message names it; "48 AIVs". A row
 * of NONE is nowhere. */
struct span launch_span(const struct launch_advisor *advisor, uint32_t row);
const char *launch_text(const struct launch_advisor *advisor, uint32_t row);
const char *launch_cores_text(const struct launch_advisor *advisor, enum block_shape shape,
                              uint32_t blocks);

/* Helps of the error about the state that a search has found. */
void advise_hang(struct launch_advisor *advisor, const struct search *search);
/* Of the remark on one of `cuts` changes that cut: an order that makes it needless. */
void advise_cut(struct launch_advisor *advisor, const struct mend *mend, uint32_t cuts);

#endif
