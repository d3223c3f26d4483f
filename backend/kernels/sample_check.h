/* One op under check: what its sample kernel makes of the op type, and how faults are said. */
#ifndef BACKEND_KERNELS_SAMPLE_CHECK_H
#define BACKEND_KERNELS_SAMPLE_CHECK_H

#include "backend/kernels/sample_ops.h"
#include "ir/op_types.h"

enum { MAX_TENSORS = 12, MAX_ATTRS = 12, MAX_NEEDS = 2, MAX_RULES = 16 };

/* What the kernel takes of an operand or result, within what the type's data says of it. Of those
 * without a rule, optional operands must be absent. */
struct tensor_rule {
    const char *slot; /* its name in the type's data; NULL ends the list */
    uint32_t dtypes;  /* a set; 0: those of the type */
    uint32_t rank;    /* 0: any */
    const char *like; /* an operand, whose dtype it has; NULL: any */
    bool nz;          /* FRACTAL_NZ is allowed, for rank 2 */
    bool optional;    /* a list may be empty */
};

/* An op under check. */
struct op_check {
    const struct op_type *type;
    const struct op_row *row;
    const struct skrt_tensor *tensors; /* operands, then results */
    unsigned operands, results;        /* that the kernel takes */
    const struct skrt_attr *attrs;
    unsigned n_attrs;
    struct sample_op_error *error;
};

/* A row of the table. Its rules are those of the kernel alone, not of all ops of the type. */
struct op_row {
    const char *name; /* of the op type */
    enum sample_memory memory;
    struct tensor_rule tensors[MAX_TENSORS + 1];
    const char *attrs[MAX_ATTRS + 1]; /* that the kernel takes; NULL ends the list */
    const char *needs[MAX_NEEDS + 1]; /* of these, that there must be */
    const char *rules[MAX_RULES + 1]; /* of shapes and attributes, as op data has them */
    struct {
        const char *name; /* of an attribute; NULL: none */
        double value;     /* the only one that the kernel computes */
    } only;
    bool (*dtypes)(const struct op_check *check); /* what rules cannot say; NULL: nothing */
    /* The type's last operands and results, so many, are no parameters of the kernel. */
    uint8_t without_operands, without_results;
    bool many_results; /* the type's result is a list: any number of parameters */
    uint8_t workspace; /* bytes for each element of result 0 */
};

/* Sets the error, which is one sentence about a tensor (-1: none), and returns false. */
bool op_fail(const struct op_check *check, const char *id, int tensor, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same about an attribute that the op has. */
bool op_fail_attr(const struct op_check *check, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* An attribute of the op; NULL where it does not have it. */
const struct skrt_attr *op_check_attr(const struct op_check *check, const char *name);

/* How messages call a tensor: "operand 'x1'"; of a listed result "result 2". */
struct tensor_name {
    char text[96];
};
struct tensor_name op_tensor_name(const struct op_check *check, unsigned tensor);

/* The id of an error about the shape of a tensor. */
const char *op_shape_id(const struct op_check *check, unsigned tensor);

/* The operand or result of the type that a tensor is. */
uint32_t op_tensor_slot(const struct op_check *check, unsigned tensor);

#endif
