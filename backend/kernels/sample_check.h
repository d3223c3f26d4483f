/* One op under check: the rules of its type, and how they say what is wrong. */
#ifndef BACKEND_KERNELS_SAMPLE_CHECK_H
#define BACKEND_KERNELS_SAMPLE_CHECK_H

#include "backend/kernels/sample_ops.h"

enum { MAX_TENSORS = 33, MAX_ATTRS = 5 };

/* What one tensor may be: of a dtype in `dtypes`, or of the same dtype as an earlier tensor. An
 * operand without either must be absent. */
struct tensor_rule {
    uint32_t dtypes;
    bool optional, listed;
    bool like; /* the dtype of tensor `like_index` is fine too */
    uint8_t like_index;
    bool nz; /* FRACTAL_NZ is allowed, for rank 2 */
};

/* A layout is a text, which says of operand 0 what its rank says. */
enum attr_values { VALUES_BOOL, VALUES_NON_NEGATIVE, VALUES_INT, VALUES_LAYOUT };

struct attr_rule {
    const char *name; /* NULL ends the list */
    enum attr_values values;
};

/* An op under check. */
struct op_check {
    const struct op_row *row;
    const struct skrt_tensor *tensors;
    const struct skrt_attr *attrs;
    unsigned n_attrs;
    struct sample_op_error *error;
};

/* A row of the table. The shape rule may rely on the counts, dtypes, formats and attributes. */
struct op_row {
    const char *name;
    uint8_t operands, results;
    struct tensor_rule tensors[MAX_TENSORS];
    struct attr_rule attrs[MAX_ATTRS + 1];
    bool (*shapes)(const struct op_check *check);
};

/* Sets the error, which is one sentence about a tensor (-1: none), and returns false. */
bool op_fail(const struct op_check *check, const char *id, int tensor, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* How messages call a tensor. */
struct tensor_name {
    const char *noun;
    unsigned index;
};
struct tensor_name op_tensor_name(const struct op_check *check, unsigned tensor);

/* The id of an error about the shape of a tensor. */
const char *op_shape_id(const struct op_check *check, unsigned tensor);

#endif
