/* Memory of values while ops run one by one: each op can write what it is said to write, and the
 * rest can only be read, where it has pages of its own. */
#ifndef FRONTEND_TENSOR_SEAL_H
#define FRONTEND_TENSOR_SEAL_H

#include "frontend/tensor/storages.h"

#include <stdatomic.h>

/* Zero-initialised is nothing. */
struct seal {
    const struct storages *storages;
    struct sealed {
        const struct guarded *guarded;
        uint32_t graph, value; /* that stands for it */
        unsigned open;       /* ops that run and may write it: one, and those that call its graph */
        atomic_bool touched; /* it was written by an op that may not */
    } * at;                  /* in the order of addresses */
    uint32_t count;
    atomic_uint tries; /* of the op that runs to write where it may not */
    /* The first of them that is into memory of values, and how many there are. */
    atomic_uint writes;
    const struct sealed *written;
    char call[512]; /* a line, or "" */
};

/* From now on, till it is freed, all that has pages can only be read but by ops that write it. */
void seal_init(struct seal *seal, const struct storages *storages);
void seal_free(struct seal *seal);

/* Around each op; `values` has the memory of each value of its graph. */
void seal_op_begins(struct seal *seal, const struct graph *graph, const struct op *op,
                    void *const *values);
void seal_op_ended(struct seal *seal, const struct graph *graph, const struct op *op,
                   void *const *values);

/* For a handler of SIGSEGV: whether the address is where nothing was to be written, and may be
 * written now, up to the end of the op. `call`: the text of the call that has done it. */
bool seal_allow(void *seal, const void *address, const char *call);
/* What the op has written that has ended: NULL where there is nothing. Till the next op begins. */
const struct sealed *seal_written(const struct seal *seal);

#endif
