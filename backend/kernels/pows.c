/* Pows: y = x1 to the power of x2 (C's powf), with broadcasting. */
#include "backend/kernels/elementwise.h"

#include <math.h>

static void pows_f32(float *y, const float *x1, const float *x2, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = powf(x1[i], x2[i]);
}

static const struct elementwise_binary pows_op = {.f32 = pows_f32};

skrt_kernel_fn pows;

void pows(skrt_core *core, uint64_t args_offset)
{
    elementwise_binary_run(core, args_offset, &pows_op);
}
