/* A graph of random_graph.h as sets of op numbers, computed straight from the rules of the language
 * (docs/language.md, "Order") and without the code that the passes use. */
#ifndef TESTS_UNIT_GRAPH_MODEL_H
#define TESTS_UNIT_GRAPH_MODEL_H

#include "ir/module.h"

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

/* The groups with what runs beside them: ops of no group that one of a group needs, and that need
 * another one of it. `plain` has the ops that may do so. False where some may not: then what lies
 * between is not plain, or each stream that the group could be launched on has such an op. That is
 * `launch`, by op number, or where this is NULL any that an op of the group is on. */
bool graph_model_join(const struct graph_model *model, const uint32_t *group, uint64_t plain,
                      const uint32_t *launch, uint32_t *joined);

#endif
