/* (condition, x1, x2) -> y: x1 where the condition is true, else x2, with broadcasting. */
#include "backend/kernels/elementwise.h"

/* Elements are moved as integers of their size. */
#define SELECT(bits)                                                                               \
    static void select_##bits(const struct elementwise_chunk *chunk, const void *op)               \
    {                                                                                              \
        const uint8_t *condition =                                                                 \
            (const uint8_t *)kernel_slot(chunk->kernel, 0) + chunk->offsets[0];                    \
        const uint##bits##_t *x1 =                                                                 \
            (const uint##bits##_t *)kernel_slot(chunk->kernel, 1) + chunk->offsets[1];             \
        const uint##bits##_t *x2 =                                                                 \
            (const uint##bits##_t *)kernel_slot(chunk->kernel, 2) + chunk->offsets[2];             \
        uint##bits##_t *y = (uint##bits##_t *)kernel_slot(chunk->kernel, 3) + chunk->position;     \
        const int64_t *strides = chunk->strides;                                                   \
        (void)op;                                                                                  \
        for (int64_t i = 0; i < chunk->n; i++)                                                     \
            y[i] = condition[i * strides[0]] != 0 ? x1[i * strides[1]] : x2[i * strides[2]];       \
    }

SELECT(8)
SELECT(16)
SELECT(32)
SELECT(64)

static elementwise_fn *select_of(int64_t size)
{
    switch (size) {
    case 1: return select_8;
    case 2: return select_16;
    case 4: return select_32;
    case 8: return select_64;
    default: return NULL;
    }
}

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    if (!kernel_open(&kernel, core, args_offset, 4, false))
        return;
    uint32_t dtype = kernel.tensors[3].dtype;
    elementwise_fn *chunk = select_of(kernel_dtype_size(dtype));
    if (chunk != NULL)
        elementwise_run(&kernel, 3, chunk, NULL, skrt_block_idx(core), skrt_block_num(core));
}
