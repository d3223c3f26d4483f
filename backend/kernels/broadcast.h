/* Tensors that are broadcast to another one's dimensions, as NumPy does it, element by element of
 * its leading dimensions. */
#ifndef BACKEND_KERNELS_BROADCAST_H
#define BACKEND_KERNELS_BROADCAST_H

#include "backend/kernels/kernel.h"

/* The element of `x` for the n-th one of the dimensions of `y` but the last `without`: the first of
 * those that have the same place there. */
static inline int64_t broadcast_offset(const struct skrt_tensor *x, const struct skrt_tensor *y,
                                       uint32_t without, int64_t n)
{
    int64_t stride = kernel_product(x, x->rank - without, x->rank), offset = 0;
    for (uint32_t back = without + 1; back <= x->rank; back++) {
        int64_t dim = x->dims[x->rank - back];
        offset += dim == 1 ? 0 : n % y->dims[y->rank - back] * stride;
        n /= y->dims[y->rank - back];
        stride *= dim;
    }
    return offset;
}

#endif
