/* Element-wise ops of two operands: what the functions of a family of them are made of. */
#ifndef BACKEND_KERNELS_PAIRS_H
#define BACKEND_KERNELS_PAIRS_H

#include "backend/kernels/elementwise.h"

/* A function of `n` elements; `expression` is of a and b, elements of the two operands. */
#define PAIRS_LOOP(function, type, result, expression)                                             \
    SAMPLE_SOME void function(result *y, const type *x1, const type *x2, int64_t n)                \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            type a = x1[i], b = x2[i];                                                             \
            y[i] = (expression);                                                                   \
        }                                                                                          \
    }

/* An elementwise_fn that loads operands as `x`, a class, calls the function that a row of the
 * family has for it, and stores the result as `y`. */
#define PAIRS_CHUNK(function, family, x, type, y, result)                                          \
    SAMPLE_SOME void function(const struct elementwise_chunk *chunk, const void *op)               \
    {                                                                                              \
        const family *row = op;                                                                    \
        type a[KERNEL_CHUNK], b[KERNEL_CHUNK];                                                     \
        result c[KERNEL_CHUNK];                                                                    \
        result *to = elementwise_write_##y(c, chunk, 2);                                           \
        row->x(to, elementwise_read_##x(a, chunk, 0), elementwise_read_##x(b, chunk, 1),           \
               chunk->n);                                                                          \
        if (to == c)                                                                               \
            elementwise_store_##y(chunk, 2, c);                                                    \
    }

#endif
