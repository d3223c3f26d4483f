/* Ops that are like one another: models repeat themselves. */
#ifndef FRONTEND_EXCHANGE_DUMP_ALIKE_H
#define FRONTEND_EXCHANGE_DUMP_ALIKE_H

#include "ir/module.h"

/* Of an op with more operands or results than this nothing is said. */
enum { ALIKE_MOST = 8 };

/* Whether two ops of one type and one graph are told apart by nothing but the names of values and
 * the types of results. True only where that is easily seen. */
bool dump_ops_alike(const struct module *module, const struct graph *graph, const struct op *a,
                    const struct op *b);

#endif
