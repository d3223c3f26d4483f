/* Whether a module is well-formed as data: what every function on it relies on, whether or not the
 * program in it is legal, which is the verifier's question. For assertions. */
#ifndef IR_CORE_INVARIANTS_H
#define IR_CORE_INVARIANTS_H

#include "ir/core/module.h"

/* Ids are in range and ranges in their pools. Each op stands in the body once, in the block that is
 * open there; blocks open and close in turn, each behind its parent, which has a smaller id.
 * Results of an op are defined by it. Takes time in proportion to the graph. */
bool graph_is_sound(const struct module *module, const struct graph *graph);

/* The same of all graphs; and of the rest of the module, where names have indexes of their
 * elements. */
bool module_is_sound(const struct module *module);

#endif
