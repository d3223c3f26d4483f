/* Gears as GE has them: texts of three options of its compiler. */
#ifndef IR_GE_GEARS_H
#define IR_GE_GEARS_H

#include "ir/base/text.h"
#include "ir/module.h"

/* "x1:-1,2;x2:-1,2": the shapes of parameters by their names, -1 where gears decide. */
#define GE_INPUT_SHAPE "ge.inputShape"
/* "2,2;4,4": a tuple for each combination, of the dimensions that are -1, in that order. */
#define GE_DYNAMIC_DIMS "ge.dynamicDims"
/* "1": they are those of parameters. */
#define GE_DYNAMIC_NODE_TYPE "ge.dynamicNodeType"
#define GE_NODES_ARE_PARAMETERS "1"

/* To be freed. */
struct ge_gears {
    struct text input_shape, dynamic_dims;
};

/* The texts of a graph's gears, whether they are expanded or not, without rows that are marked
 * (ir/gears.h). False where it has none, or these texts cannot say them: with shapes of parameters
 * that are not known but for gears, names that have a semicolon, or one combination alone. */
bool ge_gears_write(struct ge_gears *gears, const struct module *module, const struct graph *graph);
/* Why they cannot, a static string, and which parameter it is about, or NONE. NULL where they can,
 * or the graph has no gears. */
const char *ge_gears_unsaid(const struct module *module, const struct graph *graph,
                            uint32_t *param);
void ge_gears_free(struct ge_gears *gears);

#endif
