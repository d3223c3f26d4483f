/* What partition-scopes and split-nonfusable share: scopes, and super kernels made of scopes,
 * become super kernels by one schedule (passes/fusion/schedule.h). */
#ifndef PASSES_FUSION_FUSION_H
#define PASSES_FUSION_FUSION_H

#include "passes/context.h"

enum fusion_mode {
    FUSION_COLLECT, /* all ops of a scope */
    FUSION_FILTER,  /* only those that can be fused (passes/fusion/fusable.h) */
};

/* Rewrites the blocks of each graph of the module. Reports what breaks a scope as remarks, or as
 * strict-scope-check wants it. False after an error. */
bool fusion_run(struct pass_context *context, enum fusion_mode mode);

/* Before ops change places in the text: what a passive op has its stream wait for becomes clauses
 * of the next op there that executes something, and the passive one is `off_stream`. Then its place
 * means nothing. */
void fusion_free_passive(struct pass_context *context);

#endif
