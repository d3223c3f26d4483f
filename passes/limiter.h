/* What limit-residency and verify-launches know while they work on a graph, and what they say of
 * what else to do. */
#ifndef PASSES_LIMITER_H
#define PASSES_LIMITER_H

#include "passes/context.h"
#include "passes/launches/advise.h"
#include "passes/launches/describe.h"

enum { MAX_TRIED = 20000 }; /* launches, in all that is tried for advice */

struct limiter {
    struct pass_context *context;
    struct module *module;
    struct graph *graph;
    struct called_launches *called;
    struct graph_launches launches;
    struct launch_names names;
    bool changed;
    uint64_t *looks; /* at streams, in all rounds: passes/launches/explore.h */
    uint32_t tries;  /* of orders that might help, as long as this takes little time */
};

/* Where a launch is, as far as it has a place; what it is called. A row of NONE is nowhere. */
struct span limiter_row_span(const struct limiter *limiter, uint32_t row);
const char *limiter_row_text(const struct limiter *limiter, uint32_t row);

/* Helps for the error about the state that an explorer has found: what would do, as far as it has
 * been tried. */
void advise_hang(struct limiter *limiter, const struct explorer *explorer);

/* The same for what is said of one of `cuts`: an order that makes it needless. */
void advise_cut(struct limiter *limiter, const struct mend *mend, uint32_t cuts);
/* Of any mend: which cores are missing, and what would free them. */
void explain_cores(struct limiter *limiter, const struct mend *mend, uint32_t cuts);

#endif
