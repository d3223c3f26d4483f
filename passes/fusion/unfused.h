/* What is said where scopes hold ops, and no super kernel is made of any of them. */
#ifndef PASSES_FUSION_UNFUSED_H
#define PASSES_FUSION_UNFUSED_H

#include "passes/fusion/fusion_internal.h"

/* The first op that could not be fused for a reason. */
struct unfused_op {
    const char *reason, *advice, *group; /* static, static, of the diagnostics */
    struct span span;
};

/* Of all graphs of a module. */
struct unfused {
    bool told; /* there is a super kernel, or a scope that is said to be bypassed */
    VEC(struct unfused_op) ops;
};

/* Looks at a graph that has its blocks anew. */
void unfused_look(struct unfused *unfused, const struct fusion *fusion);
/* Warns where nothing is fused and something was to be. */
void unfused_report(struct unfused *unfused, struct diags *diags);
void unfused_free(struct unfused *unfused);

#endif
