/* What limit-residency does to launches. */
#ifndef PASSES_RESIDENCY_LIMIT_RESIDENCY_H
#define PASSES_RESIDENCY_LIMIT_RESIDENCY_H

#include "passes/manager/context.h"

/* Changes launches until none can hang, after insert-events: the text still says all order that
 * the graph demands, be launches rearranged again or not. False where something is wrong, which is
 * reported. `changed` becomes true where anything was changed. */
bool limit_launches(struct pass_context *context, bool *changed);

#endif
