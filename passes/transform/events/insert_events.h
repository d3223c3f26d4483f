/* Events, made anew for launches that have been rearranged. */
#ifndef PASSES_TRANSFORM_EVENTS_INSERT_EVENTS_H
#define PASSES_TRANSFORM_EVENTS_INSERT_EVENTS_H

#include "passes/manager/context.h"

/* The pass insert-events. `final`: launches are not rearranged any more, so order that those of one
 * stream imply is not said besides. What is known of the graphs is not valid then. False where
 * something is wrong, which is reported. */
bool insert_events(struct pass_context *context, bool final);

#endif
