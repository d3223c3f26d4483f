/* In which order an entry that is there waits for events and sends them: that of its programs,
 * which need not be that of its super kernel's ops. */
#ifndef PASSES_LAUNCHES_ENTRY_ORDER_H
#define PASSES_LAUNCHES_ENTRY_ORDER_H

#include "passes/launches/table.h"

/* Puts some steps, whose events are numbers of `names` (name ids), in an order in which the entry
 * comes to them: of those of different core types, between which flags leave the choice, those that
 * stand first. Steps that the programs do not have, or do not come to, are behind the others. A
 * notification behind a barrier is not `early`. */
void entry_order_steps(const struct entry *entry, struct launch_step *steps, uint32_t count,
                       const uint32_t *names);

#endif
