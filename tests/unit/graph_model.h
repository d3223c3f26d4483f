/* A graph of random_graph.h as sets of op numbers, computed straight from the rules of the language
 * (docs/language.md, "Order") and without the code that the passes use. */
#ifndef TESTS_UNIT_GRAPH_MODEL_H
#define TESTS_UNIT_GRAPH_MODEL_H

#include "ir/core/module.h"

enum { MODEL_MAX_OPS = 64 };

/* Arrays are by op number, the op's attribute `nr`. */
struct graph_model {
    unsigned count;
    unsigned position[MODEL_MAX_OPS];    /* in text order */
    uint32_t id[MODEL_MAX_OPS];          /* op id */
    uint32_t stream[MODEL_MAX_OPS];      /* label, NONE: the default stream */
    uint32_t scope[MODEL_MAX_OPS];       /* name of the scope that counts, NONE: in no named one */
    uint32_t superkernel[MODEL_MAX_OPS]; /* name, or NONE */
    uint32_t around[MODEL_MAX_OPS];      /* the same of that around it, be it that `scope none` is
                                     * between */
    uint32_t lane[MODEL_MAX_OPS];        /* label of the stream that it is launched on, or NONE */
    bool passive[MODEL_MAX_OPS];         /* executes nothing, and is in no stream's order */
    bool view[MODEL_MAX_OPS];            /* does so, but may be in a super kernel */
    uint64_t direct[MODEL_MAX_OPS];      /* ops that must be complete by a rule of the language */
    uint64_t needs[MODEL_MAX_OPS];       /* and transitively */
    /* Those whose results or memory the op uses, which must be complete before its kernel begins at
     * all; and of these, by memory, those that must have read what they read. */
    uint64_t before_start[MODEL_MAX_OPS], read_before[MODEL_MAX_OPS];
};

/* False where the numbers are not 0 .. count - 1, each once. */
bool graph_model_init(struct graph_model *model, const struct module *module,
                      const struct graph *graph);

/* Ops of the same super kernel that must be complete before an op, but for those of which one that
 * runs beside that tells by its event. */
uint64_t graph_model_inner(const struct graph_model *model, unsigned nr);

/* Whether the graph stays acyclic where all ops of equal group (not NONE) become one node.
 * `group` is by op number. */
bool graph_model_contracts(const struct graph_model *model, const uint32_t *group);

/* The needs of all ops, and what comes before them by the order of launches on streams. */
void graph_model_launched(const struct graph_model *model, uint64_t *needs);

/* Whether the launches of a graph run: super kernels, whose ops run one behind the other in text
 * order, and single ops, those of a stream one behind the other. */
bool graph_model_runs(const struct graph_model *model);

/* Whether each group can be one launch, where launches and single ops run side by side: there is a
 * stream for each, its own for a super kernel, else one that an op of it is on, and an order of
 * launches on each stream, so that none waits for itself. Launches on one stream follow each other
 * as wholes. */
bool graph_model_parallel(const struct graph_model *model, const uint32_t *group);

/* The groups with what runs beside them: ops of no group that one of a group needs, and that need
 * another one of it. `plain` has the ops that may do so. False where some may not: then what lies
 * between is not plain, or each stream that the group could be launched on has such an op. That is
 * `launch`, by op number, or where this is NULL any that an op of the group is on. */
bool graph_model_join(const struct graph_model *model, const uint32_t *group, uint64_t plain,
                      const uint32_t *launch, uint32_t *joined);

#endif
