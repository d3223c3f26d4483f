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
    bool passive[MODEL_MAX_OPS];         /* executes nothing, and is in no stream's order */
    bool view[MODEL_MAX_OPS];            /* does so, but may be in a super kernel */
    uint64_t needs[MODEL_MAX_OPS];       /* ops that must be complete, transitively */
    /* Those whose results or memory the op uses, which must be complete before its kernel begins at
     * all; and of these, by memory, those that must have read what they read. */
    uint64_t before_start[MODEL_MAX_OPS], read_before[MODEL_MAX_OPS];
};

/* False where the numbers are not 0 .. count - 1, each once. */
bool graph_model_init(struct graph_model *model, const struct module *module,
                      const struct graph *graph);

/* Whether the graph stays acyclic where all ops of equal group (not NONE) become one node.
 * `group` is by op number. */
bool graph_model_contracts(const struct graph_model *model, const uint32_t *group);

#endif
