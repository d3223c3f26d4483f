/* What graphs that an op calls access at addresses of their own: buffers and addresses mean the
 * same in all graphs. */
#ifndef IR_CALLED_ACCESSES_H
#define IR_CALLED_ACCESSES_H

#include "ir/addresses.h"
#include "ir/effects.h"

struct called_accesses {
    const struct module *module;
    struct effects *effects;
    struct op_effects of_op; /* scratch */
    struct accesses pool;
    struct id_map first, count; /* by index of a graph that is called: its part of the pool */
    struct vec_u32 stack;       /* scratch: graphs to look at */
    struct vec_u32 seen;        /* per graph: the last one whose parts it was counted among, + 1 */
};

/* Zero-initialised but for `module`. */
void called_accesses_free(struct called_accesses *called);

/* Appends what the op accesses by graphs that it calls, if it does: their addresses, the buffers
 * that they name, and the operands that they write. */
void called_accesses_of_op(struct called_accesses *called, const struct addresses *addresses,
                           const struct op *op, struct accesses *accesses);

#endif
