/* What limit-residency does to launches. */
#ifndef PASSES_RESIDENCY_LIMIT_RESIDENCY_H
#define PASSES_RESIDENCY_LIMIT_RESIDENCY_H

#include "passes/manager/context.h"

/* Changes launches until none can hang, behind insert-events: the text still says all order that
 * the graph demands, be launches rearranged again or not. False where they hang all the same, or
 * something is wrong, which is reported. */
bool limit_launches(struct pass_context *context);

#endif
