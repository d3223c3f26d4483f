/* Element-wise sub-kernels: up to three operands with NumPy broadcasting, and one result.
 *
 * Each block computes a contiguous range of the result, chunk by chunk. f16 and bf16 are computed
 * in f32 and rounded once; integers in 64 bits, of which the result keeps the low ones.
 */
#ifndef BACKEND_KERNELS_ELEMENTWISE_H
#define BACKEND_KERNELS_ELEMENTWISE_H

#include "backend/kernels/kernel.h"

enum { ELEMENTWISE_MOST = 3 };

/* The result's axes, outermost first, without those of length 1 and with neighbours merged where
 * every operand allows it. Strides are in elements; 0 repeats. The innermost is 0 or 1. */
struct elementwise_space {
    unsigned operands;
    uint32_t rank;
    int64_t dims[SKRT_MAX_RANK];
    int64_t strides[ELEMENTWISE_MOST][SKRT_MAX_RANK];
};

/* A part of the result within one row of the space, and where that of each operand lies. */
struct elementwise_chunk {
    const struct kernel *kernel;
    int64_t position, n; /* elements of the result */
    int64_t offsets[ELEMENTWISE_MOST], strides[ELEMENTWISE_MOST];
};

/* Computes at most KERNEL_CHUNK elements. `op` is what the family knows of the op. */
typedef void elementwise_fn(const struct elementwise_chunk *chunk, const void *op);

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

/* Puts one more axis of the result inside the space, merged with the innermost so far where
 * possible. */
static inline void elementwise_add_axis(struct elementwise_space *space, int64_t dim,
                                        int64_t strides[][SKRT_MAX_RANK], uint32_t axis)
{
    uint32_t last = space->rank - 1;
    bool merged = space->rank > 0;
    if (dim == 1)
        return;
    for (unsigned i = 0; merged && i < space->operands; i++)
        merged = space->strides[i][last] == strides[i][axis] * dim;
    if (merged)
        space->dims[last] *= dim;
    else
        space->dims[last = space->rank++] = dim;
    for (unsigned i = 0; i < space->operands; i++)
        space->strides[i][last] = strides[i][axis];
}

static inline bool elementwise_plan(struct elementwise_space *space, unsigned operands,
                                    const struct skrt_tensor *tensors)
{
    const struct skrt_tensor *y = &tensors[operands];
    int64_t strides[ELEMENTWISE_MOST][SKRT_MAX_RANK];
    *space = (struct elementwise_space){.operands = operands};
    for (unsigned i = 0; i < operands; i++)
        if (!elementwise_strides(&tensors[i], y, strides[i]))
            return false;
    for (uint32_t axis = 0; axis < y->rank; axis++)
        elementwise_add_axis(space, y->dims[axis], strides, axis);
    if (space->rank == 0)
        space->dims[space->rank++] = 1;
    return true;
}

/* Sets where the operands of result element `position` lie. Returns how many elements remain along
 * the innermost axis. */
static inline int64_t elementwise_locate(const struct elementwise_space *space, int64_t position,
                                         int64_t *offsets)
{
    int64_t remaining = space->dims[space->rank - 1] - position % space->dims[space->rank - 1];
    for (unsigned i = 0; i < space->operands; i++)
        offsets[i] = 0;
    for (uint32_t axis = space->rank; axis-- > 0;) {
        int64_t index = position % space->dims[axis];
        position /= space->dims[axis];
        for (unsigned i = 0; i < space->operands; i++)
            offsets[i] += index * space->strides[i][axis];
    }
    return remaining;
}

/* For each class, elementwise_NAME_CLASS:
 *
 * load   a chunk of an operand, or its one element `n` times where the stride is 0
 * read   where a chunk of an operand is read: in place, if it is as it is computed with, else in
 *        the buffer, which is loaded
 * write  where a chunk of the result, tensor `slot`, is written: in place likewise, unless that is
 *        the memory of an operand, of which all is read first; else the buffer, which is to be
 * store  stored. */
#define ELEMENTWISE_ACCESS(as, type)                                                               \
    SAMPLE_SOME void elementwise_load_##as(type *to, const struct elementwise_chunk *chunk,        \
                                           unsigned operand)                                       \
    {                                                                                              \
        bool repeat = chunk->strides[operand] == 0;                                                \
        kernel_load_##as(to, kernel_slot(chunk->kernel, operand),                                  \
                         chunk->kernel->tensors[operand].dtype, chunk->offsets[operand],           \
                         repeat ? 1 : chunk->n);                                                   \
        for (int64_t i = 1; repeat && i < chunk->n; i++)                                           \
            to[i] = to[0];                                                                         \
    }                                                                                              \
    SAMPLE_SOME const type *elementwise_read_##as(                                                 \
        type *buffer, const struct elementwise_chunk *chunk, unsigned operand)                     \
    {                                                                                              \
        if (chunk->strides[operand] != 0 && chunk->kernel->tensors[operand].dtype == SKRT_##as)    \
            return (const type *)kernel_slot(chunk->kernel, operand) + chunk->offsets[operand];    \
        elementwise_load_##as(buffer, chunk, operand);                                             \
        return buffer;                                                                             \
    }                                                                                              \
    SAMPLE_SOME type *elementwise_write_##as(type *buffer, const struct elementwise_chunk *chunk,  \
                                             unsigned slot)                                        \
    {                                                                                              \
        bool apart = chunk->kernel->tensors[slot].dtype == SKRT_##as;                              \
        for (unsigned i = 0; i < slot; i++)                                                        \
            apart = apart && chunk->kernel->slots[i] != chunk->kernel->slots[slot];                \
        return apart ? (type *)kernel_slot(chunk->kernel, slot) + chunk->position : buffer;        \
    }                                                                                              \
    SAMPLE_SOME void elementwise_store_##as(const struct elementwise_chunk *chunk, unsigned slot,  \
                                            const type *y)                                         \
    {                                                                                              \
        kernel_store_##as(kernel_slot(chunk->kernel, slot), chunk->kernel->tensors[slot].dtype,    \
                          chunk->position, y, chunk->n);                                           \
    }
KERNEL_CLASSES(ELEMENTWISE_ACCESS)
#undef ELEMENTWISE_ACCESS

/* Computes one of so many parts of the result, which is the tensor behind `operands`. */
static inline void elementwise_run(const struct kernel *kernel, unsigned operands,
                                   elementwise_fn *compute, const void *op, uint32_t part,
                                   uint32_t parts)
{
    struct elementwise_space space;
    struct elementwise_chunk chunk = {.kernel = kernel};
    if (!elementwise_plan(&space, operands, kernel->tensors))
        return;
    struct kernel_range range =
        kernel_split(kernel_elements(&kernel->tensors[operands]), part, parts);
    for (unsigned i = 0; i < operands; i++)
        chunk.strides[i] = space.strides[i][space.rank - 1];
    for (chunk.position = range.begin; chunk.position < range.end; chunk.position += chunk.n) {
        int64_t remaining = elementwise_locate(&space, chunk.position, chunk.offsets);
        chunk.n = kernel_min(kernel_min(remaining, KERNEL_CHUNK), range.end - chunk.position);
        compute(&chunk, op);
    }
}

#endif
