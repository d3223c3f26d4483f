/* What the tests of tensors and of .npy files share. */
#ifndef TESTS_UNIT_TENSOR_HELPERS_H
#define TESTS_UNIT_TENSOR_HELPERS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "frontend/tensor/tensor.h"

enum { ERROR_SIZE = 512 };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define DIMS(...)                                                                                  \
    (const int64_t[]){__VA_ARGS__}, (uint32_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static inline struct tensor make(enum dtype dtype, const int64_t *dims, uint32_t rank)
{
    struct tensor tensor;
    char error[ERROR_SIZE] = "";
    if (!tensor_init(&tensor, dtype, dims, rank, error, sizeof error))
        fail_msg("%s", error);
    return tensor;
}

static inline void fill(struct tensor *tensor, const char *spec, uint64_t seed)
{
    char error[ERROR_SIZE] = "";
    if (!tensor_fill(tensor, spec, seed, error, sizeof error))
        fail_msg("%s: %s", spec, error);
}

static inline void check_same(const struct tensor *a, const struct tensor *b)
{
    uint64_t elements, difference = tensor_first_difference(a, b, &elements);
    assert_int_equal(difference, elements);
    assert_int_equal(elements, a->size / (dtype_info(a->dtype)->bits / 8));
}

/* Whether tensor_fill can make values of the dtype. */
static inline bool has_values(enum dtype dtype)
{
    return dtype_info(dtype)->host && dtype_info(dtype)->bits >= 8 && dtype != DTYPE_hif8 &&
           dtype != DTYPE_f8e8m0;
}

#endif
