/* Changes of launches (deadlock_search.h), carried out in the graph.
 *
 * The body of the graph is written again: ops in an order that is right for launches too, each
 * part of a super kernel that is cut as a super kernel of its own. Those that need each other
 * are concurrent (ir/analysis/concurrency.h); what can come before or after a part does.
 * Launches keep their order on each stream. Takes time in proportion to ops and order. */
#ifndef PASSES_RESIDENCY_LAUNCH_CUTS_H
#define PASSES_RESIDENCY_LAUNCH_CUTS_H

#include "ir/core/sk_options.h"
#include "passes/residency/deadlock_search.h"
#include "passes/residency/residency_graph.h"

/* What `strict-scope-check` makes of a fix that cuts a launch; unset for others. */
enum sk_strict fix_strictness(const struct fix *fix, const struct graph_launches *launches);

/* Changes the graph: launches wait for what one of their ops received, or are cut before it, or
 * left unfused on the streams of their ops where `strict-scope-check` says so. The
 * rows are none of sealed launches, and the order is that of the graph. What is known of the graph
 * is not valid then, and events are to be made anew. Parts of scopes get names of the reference
 * where these are asked for. */
void fixes_apply(const struct fixes *fixes, const struct graph_launches *launches,
                 const struct order *order, struct module *module, struct graph *graph,
                 bool reference_names);

#endif
