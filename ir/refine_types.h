/* Dimensions of results that are not known, but follow. */
#ifndef IR_REFINE_TYPES_H
#define IR_REFINE_TYPES_H

#include "ir/module.h"

/* What either of two types that agree knows; `b` may be NONE. */
uint32_t merged_type(struct module *module, uint32_t a, uint32_t b);

/* Gives results of ops, in the places of dimensions, ranks and data types that are not known, those
 * that follow from the operands, op by op in the order of the text: where these have become known.
 * What is known stays. Whether there was anything to give. */
bool refine_result_types(struct module *module, struct graph *graph);

/* Whether there is something of the kind in a type. */
bool type_has_unknown(const struct module *module, uint32_t id);

#endif
