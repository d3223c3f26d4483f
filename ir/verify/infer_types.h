/* Types of results that the text leaves out. */
#ifndef IR_VERIFY_INFER_TYPES_H
#define IR_VERIFY_INFER_TYPES_H

#include "ir/module.h"

/* Gives results whose types are not written the types that follow from the operands, op by op in
 * the order of the text; to be done before the module is verified. Those of which that cannot be
 * said are reported, and nothing is known of their types then. Returns whether there are none. */
bool infer_types(struct module *module, struct diags *diags);

/* The same for one graph of it, or one that is to be: once more, where types of operands have
 * become others. */
bool infer_graph_types(struct module *module, struct graph *graph, struct diags *diags);

#endif
