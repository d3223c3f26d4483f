/* x -> y: bool, of one shape. */
#include "backend/kernels/elementwise.h"

/* By the magnitude bits of the f32 value, above INFINITE for NaN; a bool is 0 or 1. */
enum { INFINITE = 0x7f800000 };

#define PREDICATE(name, expression)                                                                \
    SAMPLE_SOME bool name##_test(uint32_t magnitude)                                               \
    {                                                                                              \
        return expression;                                                                         \
    }

PREDICATE(is_inf, magnitude == INFINITE)
PREDICATE(is_finite, magnitude < INFINITE)
PREDICATE(is_nan, magnitude > INFINITE)
PREDICATE(logical_not, magnitude == 0)

static void predicate_floats(const struct elementwise_chunk *chunk, const void *op)
{
    float x[KERNEL_CHUNK];
    uint8_t *y = (uint8_t *)kernel_slot(chunk->kernel, 1) + chunk->position;
    (void)op;
    elementwise_load_f32(x, chunk, 0);
    for (int64_t i = 0; i < chunk->n; i++)
        y[i] = SAMPLE_OWN(_test)(float_bits(x[i]) & 0x7fffffffu);
}

static void predicate_bools(const struct elementwise_chunk *chunk, const void *op)
{
    int64_t x[KERNEL_CHUNK];
    (void)op;
    elementwise_load_i64(x, chunk, 0);
    for (int64_t i = 0; i < chunk->n; i++)
        x[i] = SAMPLE_OWN(_test)((uint32_t)x[i]);
    elementwise_store_i64(chunk, 1, x);
}

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    if (!kernel_open(&kernel, core, args_offset, 2, false) ||
        kernel.tensors[1].dtype != SKRT_bool ||
        !kernel_same_dims(&kernel.tensors[0], &kernel.tensors[1]))
        return;
    uint32_t dtype = kernel.tensors[0].dtype;
    if (kernel_is_float(dtype) || dtype == SKRT_bool)
        elementwise_run(&kernel, 1, dtype == SKRT_bool ? predicate_bools : predicate_floats, NULL,
                        skrt_block_idx(core), skrt_block_num(core));
}
