/* Where a deployed compiler cuts scopes, by its rule alone (docs/passes.md, "The cuts of the
 * reference"), without the code that the passes use; and how few launches there can be at all. */
#ifndef TESTS_UNIT_CUT_MODEL_H
#define TESTS_UNIT_CUT_MODEL_H

#include "tests/unit/graph_model.h"

/* By op number. */
struct cut_model {
    unsigned rank[MODEL_MAX_OPS];  /* its position among all ops */
    bool unfusable[MODEL_MAX_OPS]; /* a super kernel cannot have it */
    uint32_t group[MODEL_MAX_OPS]; /* equal for ops of one super kernel; NONE: in none */
    unsigned launches;             /* super kernels with an op that executes something */
    unsigned begin[MODEL_MAX_OPS]; /* positions that bound the part, as they stand in its name */
    unsigned end[MODEL_MAX_OPS];
    bool cut[MODEL_MAX_OPS]; /* of a scope that is in parts */
};

/* Of a graph without super kernels. */
void cut_model_init(struct cut_model *cuts, const struct graph_model *model,
                    const struct module *module, const struct graph *graph);

enum { MODEL_MAX_SMALL = 14 };

/* The fewest launches that super kernels of these groups (NONE: in none) can be, over all orders of
 * a graph of at most MODEL_MAX_SMALL ops; each of the groups `whole` is one. UINT_MAX: that cannot
 * be. Ops that execute nothing must have no group. */
unsigned fewest_launches(const struct graph_model *model, const uint32_t *group, uint32_t n_groups,
                         uint32_t whole);

#endif
