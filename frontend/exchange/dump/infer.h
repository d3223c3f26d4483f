/* Types that a dump leaves out. */
#ifndef FRONTEND_EXCHANGE_DUMP_INFER_H
#define FRONTEND_EXCHANGE_DUMP_INFER_H

#include "ir/module.h"

/* Gives the results of an op whose dtype or rank is not known what the data of the op's type says,
 * by its operands and attributes. What it does not say stays unknown.
 * `scratch` is empty, and again afterwards. */
void dump_infer(struct module *module, struct graph *graph, const struct op *op,
                struct arena *scratch);

#endif
