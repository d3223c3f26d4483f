/* The remark `fused`: what each super kernel of a scope has, and what runs in parallel with it. */
#ifndef PASSES_PARTITION_FUSED_REPORT_H
#define PASSES_PARTITION_FUSED_REPORT_H

#include "ir/analysis/analyses.h"
#include "ir/analysis/dep_graph.h"

/* Of all super kernels of a graph, where remarks are kept. `order` gives the streams of its ops,
 * and which of them execute nothing; their places are those in the graph's text. */
void report_fused(struct diags *diags, const struct module *module, const struct graph *graph,
                  const struct order *order);

/* Takes all of these remarks back, where there are any, and reports super kernels as they are now.
 */
void report_fused_again(struct diags *diags, const struct module *module,
                        struct analyses *analyses);

#endif
