/* Passes over entries: each super kernel of a module in turn, with its entry. */
#ifndef PASSES_LOWER_VISIT_H
#define PASSES_LOWER_VISIT_H

#include "passes/lower/superkernel.h"

/* Calls `visit` for each super kernel, all of which have kernels and entries (PROPERTY_BOUND,
 * PROPERTY_LOWERED), with its ops in the order of the calls. Entries whose calls are not those
 * of the ops, or come in an order that the graph does not allow, are reported and left out. The
 * records that `profile`, `trace` and `check-sync` have made are not there while it runs, and
 * are back afterwards. Graphs are visited in parts (ir/support/parts.h), which change nothing
 * but the entry at hand. Returns whether all was well. */
bool superkernels_visit(struct pass_context *context, bool (*visit)(struct superkernel *sk));
/* The same of those alone for whose options `wants` is true (NULL: of all): other entries are not
 * looked at. */
bool superkernels_visit_if(struct pass_context *context,
                           bool (*wants)(const struct sk_options *options),
                           bool (*visit)(struct superkernel *sk));
/* The same of all for a visitor that keeps something between super kernels, one after another:
 * `sk->user` is `user`, otherwise NULL. */
bool superkernels_visit_in_turn(struct pass_context *context, bool (*visit)(struct superkernel *sk),
                                void *user);

#endif
