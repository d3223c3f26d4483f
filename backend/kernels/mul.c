/* Mul: y = x1 * x2, with broadcasting. */
#include "backend/kernels/elementwise.h"

static void mul_f32(float *y, const float *x1, const float *x2, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = x1[i] * x2[i];
}

/* Unsigned arithmetic wraps; the conversion back is two's complement. */
static void mul_i64(int64_t *y, const int64_t *x1, const int64_t *x2, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = (int64_t)((uint64_t)x1[i] * (uint64_t)x2[i]);
}

static const struct elementwise_binary mul_op = {.f32 = mul_f32, .i64 = mul_i64};

skrt_kernel_fn mul;

void mul(skrt_core *core, uint64_t args_offset)
{
    elementwise_binary_run(core, args_offset, &mul_op);
}
