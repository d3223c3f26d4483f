/* The launches of a graph: its super kernels, and its other ops. */
#ifndef PASSES_RESIDENCY_RESIDENCY_GRAPH_H
#define PASSES_RESIDENCY_RESIDENCY_GRAPH_H

#include "ir/analysis/analyses.h"
#include "passes/residency/launch_queue.h"

/* What a row stands for: a super kernel, or (block NONE) an op. */
struct launch_source {
    uint32_t block, op;
};

struct graph_launches {
    const struct module *module;
    const struct graph *graph;
    struct launch_table table;         /* users of rows are their indices; of steps, ops */
    VEC(struct launch_source) sources; /* by row */
    struct vec_u32 events;             /* by number: name id */
    struct vec_u32 streams;            /* by number: name id of the label, or NONE */
};

/* What a graph needs whose launches run where another graph's op calls it, by graph: found once. */
struct called_launches {
    struct called_launch {
        bool known, keeps;
        uint32_t aics, aivs; /* most that its launches have at a time */
    } * at;
    uint32_t count;
};

void called_launches_init(struct called_launches *called, const struct module *module);
void called_launches_free(struct called_launches *called);

/* Of a graph all of whose ops have kernels. Super kernels without an entry are as large as
 * lower-superkernels will make them. */
void graph_launches_init(struct graph_launches *launches, struct analyses *analyses,
                         struct called_launches *called, const struct module *module,
                         const struct graph *graph);
void graph_launches_free(struct graph_launches *launches);

#endif
