/* RmsNorm: rstd = 1 / sqrt(mean(x^2) + epsilon) over the dimensions of gamma; y = x * rstd *
 * gamma. AddRmsNorm: the same of x = x1 + x2, which is rounded before it is used, and a result
 * too. */
#include "backend/kernels/kernel.h"

#include <math.h>

enum { rms_norm_adds = 0, add_rms_norm_adds = 1 };
enum {
    ADDS = SAMPLE_OWN(_adds),
    X1 = 0,
    X2,
    GAMMA = 1 + ADDS,
    Y,
    RSTD,
    SUM,
    TENSORS = 4 + 2 * ADDS
};
/* What is normalised. */
enum { X = ADDS ? SUM : X1 };

/* Makes x, where it is a sum. */
static void rms_norm_add(const struct kernel *kernel, int64_t offset, int64_t n)
{
    float x1[KERNEL_CHUNK], x2[KERNEL_CHUNK];
    kernel_load_f32(x1, kernel_slot(kernel, X1), kernel->tensors[X1].dtype, offset, n);
    kernel_load_f32(x2, kernel_slot(kernel, X2), kernel->tensors[X2].dtype, offset, n);
    for (int64_t i = 0; i < n; i++)
        x1[i] += x2[i];
    kernel_store_f32(kernel_slot(kernel, X), kernel->tensors[X].dtype, offset, x1, n);
}

static float rms_norm_rstd(const struct kernel *kernel, int64_t offset, int64_t n, float epsilon)
{
    struct kernel_sum squares = {{0}};
    for (int64_t at = 0; at < n; at += KERNEL_CHUNK) {
        float x[KERNEL_CHUNK];
        int64_t count = kernel_min(KERNEL_CHUNK, n - at);
        if (ADDS)
            rms_norm_add(kernel, offset + at, count);
        kernel_load_f32(x, kernel_slot(kernel, X), kernel->tensors[X].dtype, offset + at, count);
        for (int64_t i = 0; i < count; i++)
            x[i] *= x[i];
        kernel_sum_add(&squares, x, count);
    }
    return 1 / sqrtf(kernel_sum_total(&squares) / (float)n + epsilon);
}

static void rms_norm_scale(const struct kernel *kernel, int64_t offset, int64_t n, float rstd)
{
    for (int64_t at = 0; at < n; at += KERNEL_CHUNK) {
        float x[KERNEL_CHUNK], gamma[KERNEL_CHUNK];
        int64_t count = kernel_min(KERNEL_CHUNK, n - at);
        kernel_load_f32(x, kernel_slot(kernel, X), kernel->tensors[X].dtype, offset + at, count);
        kernel_load_f32(gamma, kernel_slot(kernel, GAMMA), kernel->tensors[GAMMA].dtype, at, count);
        for (int64_t i = 0; i < count; i++)
            x[i] = x[i] * rstd * gamma[i];
        kernel_store_f32(kernel_slot(kernel, Y), kernel->tensors[Y].dtype, offset + at, x, count);
    }
}

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    if (!kernel_open(&kernel, core, args_offset, TENSORS, false))
        return;
    int64_t n = kernel_elements(&kernel.tensors[GAMMA]);
    float epsilon = kernel_float(&kernel, "epsilon", 1e-6);
    struct kernel_range range = kernel_block_range(core, kernel_elements(&kernel.tensors[RSTD]));
    for (int64_t row = range.begin; row < range.end; row++) {
        float value = rms_norm_rstd(&kernel, row * n, n, epsilon);
        rms_norm_scale(&kernel, row * n, n, value);
        ((float *)kernel_slot(&kernel, RSTD))[row] = value;
    }
}
