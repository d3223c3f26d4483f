/* Element-wise sub-kernels: two operands with NumPy broadcasting, or one operand to bool.
 *
 * Each block computes a contiguous range of the result, chunk by chunk. f16 and bf16 are computed
 * in f32 and rounded once; integers in 64 bits, of which the result keeps the low ones.
 */
#ifndef BACKEND_KERNELS_ELEMENTWISE_H
#define BACKEND_KERNELS_ELEMENTWISE_H

#include "backend/kernels/kernel.h"

/* A binary function on chunks. `i64` is NULL where the op has no integer form. */
struct elementwise_binary {
    void (*f32)(float *y, const float *x1, const float *x2, int64_t n);
    void (*i64)(int64_t *y, const int64_t *x1, const int64_t *x2, int64_t n);
};

enum { ELEMENTWISE_OPERANDS = 2 };

/* The result's axes, outermost first, without those of length 1 and with neighbours merged where
 * every operand allows it. Strides are in elements; 0 repeats. The innermost is 0 or 1. */
struct elementwise_space {
    uint32_t rank;
    int64_t dims[SKRT_MAX_RANK];
    int64_t strides[ELEMENTWISE_OPERANDS][SKRT_MAX_RANK];
};

/* Strides of `x` along the axes of `y`; fails if `x` does not broadcast to `y`. */
static inline bool elementwise_strides(const struct skrt_tensor *x, const struct skrt_tensor *y,
                                       int64_t *strides)
{
    if (x->rank > y->rank)
        return false;
    int64_t stride = 1;
    for (uint32_t back = 1; back <= y->rank; back++) {
        int64_t dim = back <= x->rank ? x->dims[x->rank - back] : 1;
        if (dim != 1 && dim != y->dims[y->rank - back])
            return false;
        strides[y->rank - back] = dim == 1 ? 0 : stride;
        stride *= dim;
    }
    return true;
}

/* Puts one more axis inside the space, merged with the innermost so far where possible. */
static inline void elementwise_add_axis(struct elementwise_space *space, int64_t dim,
                                        int64_t stride1, int64_t stride2)
{
    if (dim == 1)
        return;
    uint32_t last = space->rank - 1;
    if (space->rank > 0 && space->strides[0][last] == stride1 * dim &&
        space->strides[1][last] == stride2 * dim)
        space->dims[last] *= dim;
    else
        space->dims[last = space->rank++] = dim;
    space->strides[0][last] = stride1;
    space->strides[1][last] = stride2;
}

static inline bool elementwise_plan(struct elementwise_space *space, const struct skrt_tensor *x1,
                                    const struct skrt_tensor *x2, const struct skrt_tensor *y)
{
    int64_t strides[ELEMENTWISE_OPERANDS][SKRT_MAX_RANK];
    if (!elementwise_strides(x1, y, strides[0]) || !elementwise_strides(x2, y, strides[1]))
        return false;
    space->rank = 0;
    for (uint32_t axis = 0; axis < y->rank; axis++)
        elementwise_add_axis(space, y->dims[axis], strides[0][axis], strides[1][axis]);
    if (space->rank == 0) {
        space->rank = 1;
        space->dims[0] = 1;
        space->strides[0][0] = space->strides[1][0] = 0;
    }
    return true;
}

/* Sets `offsets` to where the operands of result element `position` lie. Returns how many elements
 * remain along the innermost axis. */
static inline int64_t elementwise_locate(const struct elementwise_space *space, int64_t position,
                                         int64_t *offsets)
{
    int64_t remaining = space->dims[space->rank - 1] - position % space->dims[space->rank - 1];
    offsets[0] = offsets[1] = 0;
    for (uint32_t axis = space->rank; axis-- > 0;) {
        int64_t index = position % space->dims[axis];
        position /= space->dims[axis];
        offsets[0] += index * space->strides[0][axis];
        offsets[1] += index * space->strides[1][axis];
    }
    return remaining;
}

/* Loads a chunk of an operand, or its one element `n` times where the stride is 0. */
static inline void elementwise_load_f32(float *to, const void *data, uint32_t dtype, int64_t offset,
                                        int64_t stride, int64_t n)
{
    kernel_load_f32(to, data, dtype, offset, stride == 0 ? 1 : n);
    for (int64_t i = 1; stride == 0 && i < n; i++)
        to[i] = to[0];
}

static inline void elementwise_load_i64(int64_t *to, const void *data, uint32_t dtype,
                                        int64_t offset, int64_t stride, int64_t n)
{
    kernel_load_i64(to, data, dtype, offset, stride == 0 ? 1 : n);
    for (int64_t i = 1; stride == 0 && i < n; i++)
        to[i] = to[0];
}

static inline void elementwise_chunk_f32(const struct kernel *kernel,
                                         const struct elementwise_binary *op, int64_t position,
                                         const int64_t *offsets, const int64_t *strides, int64_t n)
{
    float x[ELEMENTWISE_OPERANDS][KERNEL_CHUNK], y[KERNEL_CHUNK];
    for (unsigned i = 0; i < ELEMENTWISE_OPERANDS; i++)
        elementwise_load_f32(x[i], kernel_slot(kernel, i), kernel->tensors[i].dtype, offsets[i],
                             strides[i], n);
    op->f32(y, x[0], x[1], n);
    kernel_store_f32(kernel_slot(kernel, 2), kernel->tensors[2].dtype, position, y, n);
}

static inline void elementwise_chunk_i64(const struct kernel *kernel,
                                         const struct elementwise_binary *op, int64_t position,
                                         const int64_t *offsets, const int64_t *strides, int64_t n)
{
    int64_t x[ELEMENTWISE_OPERANDS][KERNEL_CHUNK], y[KERNEL_CHUNK];
    for (unsigned i = 0; i < ELEMENTWISE_OPERANDS; i++)
        elementwise_load_i64(x[i], kernel_slot(kernel, i), kernel->tensors[i].dtype, offsets[i],
                             strides[i], n);
    op->i64(y, x[0], x[1], n);
    kernel_store_i64(kernel_slot(kernel, 2), kernel->tensors[2].dtype, position, y, n);
}

/* One of so many parts of the sub-kernel (x1, x2) -> y. */
static inline void elementwise_binary_part(const skrt_core *core, uint64_t args_offset,
                                           const struct elementwise_binary *op, uint32_t part,
                                           uint32_t parts)
{
    struct kernel kernel;
    struct elementwise_space space;
    if (!kernel_open(&kernel, core, args_offset, ELEMENTWISE_OPERANDS + 1, false) ||
        !elementwise_plan(&space, &kernel.tensors[0], &kernel.tensors[1], &kernel.tensors[2]))
        return;
    uint32_t dtype = kernel.tensors[2].dtype;
    bool is_float = kernel_is_float(dtype);
    if (kernel.tensors[0].dtype != dtype || kernel.tensors[1].dtype != dtype ||
        (!is_float && op->i64 == NULL))
        return;

    struct kernel_range range = kernel_split(kernel_elements(&kernel.tensors[2]), part, parts);
    uint32_t inner = space.rank - 1;
    int64_t strides[ELEMENTWISE_OPERANDS] = {space.strides[0][inner], space.strides[1][inner]};
    for (int64_t position = range.begin, n; position < range.end; position += n) {
        int64_t offsets[ELEMENTWISE_OPERANDS];
        n = elementwise_locate(&space, position, offsets);
        n = kernel_min(kernel_min(n, KERNEL_CHUNK), range.end - position);
        if (is_float)
            elementwise_chunk_f32(&kernel, op, position, offsets, strides, n);
        else
            elementwise_chunk_i64(&kernel, op, position, offsets, strides, n);
    }
}

/* The whole sub-kernel, each block one part. */
static inline void elementwise_binary_run(const skrt_core *core, uint64_t args_offset,
                                          const struct elementwise_binary *op)
{
    elementwise_binary_part(core, args_offset, op, skrt_block_idx(core), skrt_block_num(core));
}

/* The whole sub-kernel x -> y: bool. `test` decides by the magnitude bits of the f32 value, above
 * 0x7f800000 for NaN. */
static inline void elementwise_predicate_run(const skrt_core *core, uint64_t args_offset,
                                             bool (*test)(uint32_t magnitude))
{
    struct kernel kernel;
    if (!kernel_open(&kernel, core, args_offset, 2, false) ||
        !kernel_is_float(kernel.tensors[0].dtype) || kernel.tensors[1].dtype != SKRT_bool ||
        !kernel_same_dims(&kernel.tensors[0], &kernel.tensors[1]))
        return;
    uint8_t *y = kernel_slot(&kernel, 1);
    struct kernel_range range = kernel_block_range(core, kernel_elements(&kernel.tensors[0]));
    for (int64_t at = range.begin; at < range.end; at += KERNEL_CHUNK) {
        float x[KERNEL_CHUNK];
        int64_t n = kernel_min(KERNEL_CHUNK, range.end - at);
        kernel_load_f32(x, kernel_slot(&kernel, 0), kernel.tensors[0].dtype, at, n);
        for (int64_t i = 0; i < n; i++)
            y[at + i] = test(float_bits(x[i]) & 0x7fffffffu);
    }
}

#endif
