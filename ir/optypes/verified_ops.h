/* Most ops of a graph are like another one. Who judges ops by nothing but what is compared here
 * judges one of those that are alike. */
#ifndef IR_OPTYPES_VERIFIED_OPS_H
#define IR_OPTYPES_VERIFIED_OPS_H

#include "ir/core/module.h"

/* An op that is right; zero-initialised it is none. */
struct op_seen {
    uint32_t type, kernel; /* name ids */
    uint32_t n_operands, n_results;
    uint32_t types[6];  /* type ids of operands, then of results */
    struct range attrs; /* equal are ranges of equal attributes */
};

enum { OPS_SEEN = 64 };

/* Of one module. */
struct seen_ops {
    struct op_seen at[OPS_SEEN];
};

/* Where an op like this is, if any was seen; NULL for ops that have too much to be kept, or
 * operands that are lists, absent or labelled. */
struct op_seen *seen_ops_place(struct seen_ops *seen, const struct graph *graph,
                               const struct op *op);
/* Whether an op is like the one that was seen: by its type, its kernel, the types of its operands
 * and results, and its attributes. */
bool op_is_seen(const struct module *module, const struct graph *graph, const struct op_seen *seen,
                const struct op *op);
void op_set_seen(const struct graph *graph, const struct op *op, struct op_seen *seen);

#endif
