/* Ops that call graphs, on the host, and the calls of a run. */
#ifndef BACKEND_DEVICE_EXECUTE_H
#define BACKEND_DEVICE_EXECUTE_H

#include "backend/device/run.h"
#include "backend/target/run.h"
#include "ir/core/calls.h"

void device_profile_free(struct run_profile *profile);

/* Ops that call graphs, on the host: each graph that is called has a run of its own inside the run
 * of the main one (backend/device/run.h), since no graph calls itself. Its parameters are bound to
 * the memory of the arguments; what it returns is copied to the results. */

/* Memory for values that a body returns, which are its parameters the next time. */
struct buffer {
    void *at;
    uint64_t size;
};

struct device_call {
    const struct op *op;
    enum call_kind kind;
    struct device_run **callees; /* in the order of ir/core/calls.h */
    uint32_t n_callees;
    uint32_t n_args, n_results; /* what is passed but for the op's own operands; tensors */
    uint64_t *sizes;            /* of results */
    void **args, **next;        /* memory of what is passed, now and the next time */
    VEC(struct buffer) buffers;
    uint64_t counter; /* the first parameter of a For's body */
};

/* Finds all graphs that the main one calls, directly or by way of others, and begins a run for
 * each. */
void calls_open(struct device_run *run);

/* The call of an op; it lasts as long as the run. NULL, with diagnostics, where its results have
 * types that the host target does not have. */
struct device_call *calls_make(struct device_run *run, const struct op *op);

/* Releases what a run has because of calls. */
void calls_free(struct device_run *run);

#endif
