/* Addition of chunks, for the sub-kernels of Add. */
#ifndef BACKEND_KERNELS_ADD_H
#define BACKEND_KERNELS_ADD_H

#include "backend/kernels/elementwise.h"

static void add_f32(float *y, const float *x1, const float *x2, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = x1[i] + x2[i];
}

/* Unsigned arithmetic wraps; the conversion back is two's complement. */
static void add_i64(int64_t *y, const int64_t *x1, const int64_t *x2, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = (int64_t)((uint64_t)x1[i] + (uint64_t)x2[i]);
}

static const struct elementwise_binary add_op = {.f32 = add_f32, .i64 = add_i64};

#endif
