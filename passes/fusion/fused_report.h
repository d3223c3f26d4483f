/* What is said of a super kernel that was made of a scope. */
#ifndef PASSES_FUSION_FUSED_REPORT_H
#define PASSES_FUSION_FUSED_REPORT_H

#include "ir/analyses.h"
#include "ir/order.h"

struct fused {
    const struct module *module;
    const struct graph *graph;
    const struct order *order;
    uint32_t name, scope; /* name ids; scope NONE: it is of none */
    const uint32_t *ops; /* its own, the first of which comes first, and those that run beside it */
    uint32_t count;
    const uint8_t *beside; /* per op id: it is one of these */
    const uint32_t *names; /* name ids of super kernels that run beside it */
    uint32_t n_names;
};

/* The remark `fused`, where remarks are kept. */
void report_fused(struct diags *diags, const struct fused *fused);

/* Takes back what was said of super kernels that are not there any more, and says it of those that
 * were made of them: super kernels of the same scopes of which nothing was said. */
void report_fused_again(struct diags *diags, const struct module *module,
                        struct analyses *analyses);

#endif
