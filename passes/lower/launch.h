/* Which events reach outside a super kernel. An event between ops of one super kernel is an order;
 * any other is a word in memory, which the sender's entry notifies or the receiver's waits for, be
 * it that the other side is outside of the module. */
#ifndef PASSES_LOWER_LAUNCH_H
#define PASSES_LOWER_LAUNCH_H

#include "ir/core/module.h"
#include "passes/manager/context.h"

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

/* Entries that nothing launches. */

/* Warns, once in the life of the diagnostics, of entries that are for no super kernel, in modules
 * that have super kernels. Scopes that are left may become any. */
void entries_warn_unused(struct pass_context *context);

/* The launch of a super kernel: how many cores of each type run its entry. */

struct launch {
    enum kernel_type type;
    uint32_t blocks;
};

/* A super kernel whose ops have kernels. */
struct launch_ops {
    const struct module *module;
    struct diags *diags;
    const struct graph *graph;
    const struct block *superkernel;
    const uint32_t *ops;
    uint32_t count;
};

/* The launch that the ops need, whatever options ask for, be it that the target has too few
 * cores. */
struct launch launch_of_needs(const struct launch_ops *ops);

/* That, or the one that debug-aic-num and debug-aiv-num ask for. False, reported, where these are
 * not possible or do not suffice, or where the target has too few cores. */
bool launch_choose(struct launch *launch, const struct launch_ops *ops);

#endif
