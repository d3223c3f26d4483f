/* What passes report of launches: what they are and wait for, states in which they hang, changes
 * that would help, each tried before it is proposed, and rings. */
#ifndef PASSES_RESIDENCY_LAUNCH_REPORT_H
#define PASSES_RESIDENCY_LAUNCH_REPORT_H

#include "ir/analysis/analyses.h"
#include "ir/support/text.h"
#include "passes/manager/context.h"
#include "passes/residency/deadlock_search.h"
#include "passes/residency/residency_graph.h"

/* Lines about rows; a row of NONE is about none. */
struct launch_lines {
    struct launch_line {
        uint32_t row;
        char *text;
    } * at;
    uint32_t count, capacity;
};
void launch_lines_free(struct launch_lines *lines);

/* The account of a row: "3: '@g_s' on stream "1", cube, 24 AICs at once; waits ...". */
void describe_row(struct text *text, const struct graph_launches *launches, uint32_t row);
/* Of the state that hangs: a line for each stream that is not over, then how it was reached. Of a
 * cycle: a line for each launch of it. */
void describe_hang(struct launch_lines *lines, const struct graph_launches *launches,
                   const struct search *search);

/* The launches of a graph, and who works on them. */
struct launch_advisor {
    struct pass_context *context;
    const struct module *module;
    const struct graph *graph;
    struct graph_launches launches;
    uint32_t tries; /* changes that may still be tried */
};

void launch_advisor_init(struct launch_advisor *advisor, struct pass_context *context,
                         struct called_launches *called, const struct graph *graph);
void launch_advisor_free(struct launch_advisor *advisor);

/* Where a launch is in the text, as far as it has a place; how a message names it; "48 AIVs". A row
 * of NONE is nowhere. */
struct span launch_span(const struct launch_advisor *advisor, uint32_t row);
const char *launch_text(const struct launch_advisor *advisor, uint32_t row);
const char *launch_cores_text(const struct launch_advisor *advisor, enum block_shape shape,
                              uint32_t blocks);

/* Helps of the error about the state that a search has found. */
void advise_hang(struct launch_advisor *advisor, const struct search *search);
/* Of the remark on one of `cuts` changes that cut: an order that makes it needless. */
void advise_cut(struct launch_advisor *advisor, const struct fix *fix, uint32_t cuts);

/* The remarks `ring`, where remarks are kept: one for each ring of the module's graphs, in the
 * place of those that were made before. Each launch of a ring waits, in the end, for a part of
 * itself, so that none can come before the others as a whole. The graphs have events of all order
 * between launches. */
void report_rings(struct diags *diags, const struct module *module, struct analyses *analyses);

#endif
