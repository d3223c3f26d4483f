/* Tensors whose elements stand elsewhere in another tensor: the places go by strides. */
#ifndef BACKEND_KERNELS_STRIDED_H
#define BACKEND_KERNELS_STRIDED_H

#include "backend/kernels/space.h"

/* The axes of the result, and how far apart their elements stand in the operand; where its first
 * element stands there. */
struct strided {
    struct space axes;
    int64_t offset;
};

/* Whether all places lie in an operand of so many elements. */
static inline bool strided_fits(const struct strided *strided, int64_t elements)
{
    const struct space *axes = &strided->axes;
    int64_t low = strided->offset, high = strided->offset;
    for (uint32_t i = 0; i < axes->rank; i++) {
        int64_t reach = (axes->dims[i] - 1) * axes->strides[i];
        if (axes->dims[i] == 0)
            return true;
        *(reach < 0 ? &low : &high) += reach;
    }
    return low >= 0 && high < elements;
}

#define STRIDED_ROW(type)                                                                          \
    for (int64_t i = 0; i < n; i++, from += step) {                                                \
        ((type *)to)[i] = *(const type *)from;                                                     \
    }                                                                                              \
    break

/* Copies `n` elements that are `stride` apart in `from`. */
SAMPLE_SOME __attribute__((noinline)) void strided_row(char *to, const char *from, int64_t stride,
                                                       int64_t n, int64_t size)
{
    int64_t step = stride * size;
    switch (size) {
    case 1: STRIDED_ROW(uint8_t);
    case 2: STRIDED_ROW(uint16_t);
    case 4: STRIDED_ROW(uint32_t);
    default:
        for (int64_t i = 0; i < n; i++, from += step)
            memcpy(to + i * size, from, (size_t)size);
        break;
    }
}
#undef STRIDED_ROW

/* Copies this block's part of the result, tensor `y` of the kernel, out of tensor `x`. */
static inline void strided_copy(const struct kernel *kernel, const skrt_core *core, unsigned x,
                                unsigned y, const struct strided *strided)
{
    int64_t size = kernel_dtype_size(kernel->tensors[y].dtype);
    if (size == 0 || kernel->tensors[x].dtype != kernel->tensors[y].dtype ||
        !strided_fits(strided, kernel_elements(&kernel->tensors[x])))
        return;
    int64_t step = space_step(&strided->axes);
    struct kernel_range range = kernel_block_range(core, kernel_elements(&kernel->tensors[y]));
    for (int64_t position = range.begin, n; position < range.end; position += n) {
        int64_t from = strided->offset + space_offset(&strided->axes, position, &n);
        char *row = (char *)kernel_slot(kernel, y) + position * size;
        const char *source = (const char *)kernel_slot(kernel, x) + from * size;
        n = kernel_min(n, range.end - position);
        if (step == 1)
            memcpy(row, source, (size_t)(n * size));
        else
            strided_row(row, source, step, n, size);
    }
}

#endif
