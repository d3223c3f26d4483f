/* The passes that make super kernels of scopes (fusion.c), and what others need of them. */
#ifndef PASSES_PARTITION_FUSION_H
#define PASSES_PARTITION_FUSION_H

#include "passes/manager/context.h"

bool pass_partition_scopes(struct pass_context *context);
bool pass_split_nonfusable(struct pass_context *context);

/* Before ops change places in the text: what a passive op has its stream wait for becomes clauses
 * of the next op there that executes something, and the passive one is `off_stream`. Then its place
 * means nothing. */
void fusion_free_passive(struct pass_context *context);

#endif
