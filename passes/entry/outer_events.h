/* Which events reach outside a super kernel. An event between ops of one super kernel is an order;
 * any other is a word in memory, which the sender's entry notifies or the receiver's waits for, be
 * it that the other side is outside of the module. */
#ifndef PASSES_ENTRY_OUTER_EVENTS_H
#define PASSES_ENTRY_OUTER_EVENTS_H

#include "ir/module.h"

struct outer_events {
    /* By name id; a block id, or NONE for the graph outside of super kernels (and for launches as
     * wholes). */
    struct id_map sender;
    struct id_map outside; /* by name id: 1 where somebody receives it who is not where the sender
                            * is, or nobody does */
    uint32_t shared;       /* an event for which ops of several super kernels wait, or NONE */
};

void outer_events_init(struct outer_events *events, const struct graph *graph);
void outer_events_free(struct outer_events *events);

/* Whether the ops of a super kernel's block wait for, or send, the event by its word. */
bool outer_events_waits(const struct outer_events *events, uint32_t block, uint32_t event);
bool outer_events_notifies(const struct outer_events *events, uint32_t event);

#endif
