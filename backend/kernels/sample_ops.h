/* The op types that the sample sub-kernels implement, and what each takes of the tensors and
 * attributes that its op type can have. Part of the compiler, which refuses with it what a kernel
 * could not compute. Other names of an op type (ir/optypes/op_types.h) are as good as its own. */
#ifndef BACKEND_KERNELS_SAMPLE_OPS_H
#define BACKEND_KERNELS_SAMPLE_OPS_H

#include <stdbool.h>

#include "backend/runtime/skrt.h"

struct op_types;

enum { SAMPLE_OP_ERROR_TEXT = 256 };

struct sample_op_error {
    /* "op-type", "operand-count", "result-count", "operand-dtype", "result-dtype", "operand-form",
     * "operand-format", "result-format", "operand-shape", "result-shape" or "attribute". A static
     * string. */
    const char *id;
    int tensor;    /* index of the tensor at fault, operands before results; -1: none */
    int attribute; /* index of the attribute at fault; -1: none */
    char text[SAMPLE_OP_ERROR_TEXT]; /* one sentence without a full stop */
};

/* The names of the op types, in the order of the table; NULL from the first index past the end. */
const char *sample_op_name(unsigned index);

/* The names of the attributes that the kernel of `op_type` takes, behind the last one NULL: at once
 * for unknown op types. */
const char *const *sample_op_attrs(struct op_types *types, const char *op_type);

/* Whose memory the results of a kernel may be. */
enum sample_memory {
    SAMPLE_APART,    /* of their own: operands are read while results are written */
    SAMPLE_IN_PLACE, /* of an operand too: each element is read before it is written, by one core */
    SAMPLE_UPDATE,   /* that of operand 0, which the kernel writes in place */
};

enum sample_memory sample_op_memory(struct op_types *types, const char *op_type);

/* The numbers of operands and results that the kernel of `op_type` has; false if there is none. */
bool sample_op_arity(struct op_types *types, const char *op_type, unsigned *n_operands,
                     unsigned *n_results);

/* Checks an op by what is known of its type, and by what its kernel takes of that. `tensors` are
 * its operands, then its results, with dimensions >= 0; absent attributes have their defaults. On
 * false, `error` says what is wrong: the first fault found. */
bool sample_op_check(struct op_types *types, const char *op_type, const struct skrt_tensor *tensors,
                     unsigned n_operands, unsigned n_results, const struct skrt_attr *attrs,
                     unsigned n_attrs, struct sample_op_error *error);

/* What an attribute that the kernel of `op_type` takes must be. */
enum sample_attr { SAMPLE_NUMBER, SAMPLE_TEXT, SAMPLE_INTS };

enum sample_attr sample_op_attr_kind(struct op_types *types, const char *op_type, const char *key);

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
