/* Tensors whose elements stand elsewhere in another tensor: the places go by strides. */
#ifndef BACKEND_KERNELS_STRIDED_H
#define BACKEND_KERNELS_STRIDED_H

#include "backend/kernels/kernel.h"

enum { STRIDED_MOST = 2 * SKRT_MAX_RANK };

/* The axes of the result, outermost first, without those of length 1 and with neighbours merged;
 * where its first element stands in the operand, and how far apart the next ones do: elements. */
struct strided {
    uint32_t rank;
    int64_t dims[STRIDED_MOST], strides[STRIDED_MOST];
    int64_t offset;
};

/* Puts one more axis inside; there are at most STRIDED_MOST. */
static inline void strided_add(struct strided *space, int64_t dim, int64_t stride)
{
    uint32_t last = space->rank - 1;
    if (dim == 1)
        return;
    if (space->rank > 0 && space->strides[last] == stride * dim)
        space->dims[last] *= dim;
    else
        space->dims[last = space->rank++] = dim;
    space->strides[last] = stride;
}

/* Whether all places lie in an operand of so many elements. */
static inline bool strided_fits(const struct strided *space, int64_t elements)
{
    int64_t low = space->offset, high = space->offset;
    for (uint32_t i = 0; i < space->rank; i++) {
        int64_t reach = (space->dims[i] - 1) * space->strides[i];
        if (space->dims[i] == 0)
            return true;
        *(reach < 0 ? &low : &high) += reach;
    }
    return low >= 0 && high < elements;
}

/* Copies `n` elements that are `stride` apart in `from`. */
static inline void strided_row(char *to, const char *from, int64_t stride, int64_t n, int64_t size)
{
    if (stride == 1) {
        memcpy(to, from, (size_t)(n * size));
        return;
    }
    switch (size) {
    case 1:
        for (int64_t i = 0; i < n; i++)
            to[i] = from[i * stride];
        break;
    case 2:
        for (int64_t i = 0; i < n; i++)
            ((uint16_t *)to)[i] = ((const uint16_t *)from)[i * stride];
        break;
    case 4:
        for (int64_t i = 0; i < n; i++)
            ((uint32_t *)to)[i] = ((const uint32_t *)from)[i * stride];
        break;
    default:
        for (int64_t i = 0; i < n; i++)
            memcpy(to + i * size, from + i * stride * size, (size_t)size);
        break;
    }
}

/* Copies this block's part of the result, tensor `y` of the kernel, out of tensor `x`. */
static inline void strided_copy(const struct kernel *kernel, const skrt_core *core, unsigned x,
                                unsigned y, struct strided *space)
{
    int64_t size = kernel_dtype_size(kernel->tensors[y].dtype);
    int64_t total = kernel_elements(&kernel->tensors[y]);
    if (size == 0 || kernel->tensors[x].dtype != kernel->tensors[y].dtype ||
        !strided_fits(space, kernel_elements(&kernel->tensors[x])))
        return;
    if (space->rank == 0)
        strided_add(space, total, 1);
    uint32_t inner = space->rank == 0 ? 0 : space->rank - 1;
    int64_t row = space->rank == 0 ? 1 : space->dims[inner];
    struct kernel_range range = kernel_block_range(core, total);
    for (int64_t position = range.begin, n; position < range.end; position += n) {
        int64_t rest = position / row, at = position % row;
        int64_t from = space->offset + at * (space->rank == 0 ? 0 : space->strides[inner]);
        n = kernel_min(row - at, range.end - position);
        for (uint32_t axis = inner; axis-- > 0; rest /= space->dims[axis])
            from += rest % space->dims[axis] * space->strides[axis];
        strided_row((char *)kernel_slot(kernel, y) + position * size,
                    (const char *)kernel_slot(kernel, x) + from * size,
                    space->rank == 0 ? 1 : space->strides[inner], n, size);
    }
}

#endif
