/* The op types that the sample sub-kernels implement, and what each demands of its tensors and
 * attributes. Part of the compiler, which refuses with it what a kernel could not compute.
 */
#ifndef BACKEND_KERNELS_SAMPLE_OPS_H
#define BACKEND_KERNELS_SAMPLE_OPS_H

#include <stdbool.h>

#include "backend/runtime/skrt.h"

enum { SAMPLE_OP_ERROR_TEXT = 256 };

struct sample_op_error {
    /* "op-type", "operand-count", "result-count", "operand-dtype", "result-dtype",
     * "operand-format", "result-format", "operand-shape", "result-shape" or "attribute". A static
     * string. */
    const char *id;
    int tensor;    /* index of the tensor at fault, operands before results; -1: none */
    int attribute; /* index of the attribute at fault; -1: none */
    char text[SAMPLE_OP_ERROR_TEXT]; /* one sentence without a full stop */
};

/* The names of the op types, in the order of the table; NULL from the first index past the end. */
const char *sample_op_name(unsigned index);

/* The names of the attributes that `op_type` knows; NULL from the first index past the end, and for
 * unknown op types. */
const char *sample_op_attr_name(const char *op_type, unsigned index);

/* The numbers of operands and results of `op_type`; false if it is unknown. */
bool sample_op_arity(const char *op_type, unsigned *n_operands, unsigned *n_results);

/* Checks an op: `tensors` are its operands, then its results, with dimensions >= 0; absent
 * attributes have their defaults. On false, `error` says what is wrong: the first fault found. */
bool sample_op_check(const char *op_type, const struct skrt_tensor *tensors, unsigned n_operands,
                     unsigned n_results, const struct skrt_attr *attrs, unsigned n_attrs,
                     struct sample_op_error *error);

/* What the tiling of a dynamic sample kernel says: the key of the variant, and its blocks. */
struct sample_tiling {
    int64_t key;
    uint32_t blocks;
};

/* The tiling of the dynamic kernel in `object` (the name of the file) for an op with these tensors,
 * operands before results, on a device with so many AIVs. False where no dynamic sample kernel has
 * that name, or takes another number of tensors. */
bool sample_op_tiling(const char *object, const struct skrt_tensor *tensors, unsigned n_tensors,
                      uint32_t aivs, struct sample_tiling *tiling);

#endif
