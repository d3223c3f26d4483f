/* RmsNorm: rstd = 1 / sqrt(mean(x^2) + epsilon) over the last axis; y = x * rstd * gamma. */
#include "backend/kernels/kernel.h"

#include <math.h>

static const double rms_norm_epsilon = 1e-6;

static float rms_norm_rstd(const struct kernel *kernel, int64_t offset, int64_t n, float epsilon)
{
    struct kernel_sum squares = {{0}};
    for (int64_t at = 0; at < n; at += KERNEL_CHUNK) {
        float x[KERNEL_CHUNK];
        int64_t count = kernel_min(KERNEL_CHUNK, n - at);
        kernel_load_f32(x, kernel_slot(kernel, 0), kernel->tensors[0].dtype, offset + at, count);
        for (int64_t i = 0; i < count; i++)
            x[i] *= x[i];
        kernel_sum_add(&squares, x, count);
    }
    float mean = n > 0 ? kernel_sum_total(&squares) / (float)n : 0;
    return 1 / sqrtf(mean + epsilon);
}

static void rms_norm_scale(const struct kernel *kernel, int64_t offset, int64_t n, float rstd)
{
    for (int64_t at = 0; at < n; at += KERNEL_CHUNK) {
        float x[KERNEL_CHUNK], gamma[KERNEL_CHUNK];
        int64_t count = kernel_min(KERNEL_CHUNK, n - at);
        kernel_load_f32(x, kernel_slot(kernel, 0), kernel->tensors[0].dtype, offset + at, count);
        kernel_load_f32(gamma, kernel_slot(kernel, 1), kernel->tensors[1].dtype, at, count);
        for (int64_t i = 0; i < count; i++)
            x[i] = x[i] * rstd * gamma[i];
        kernel_store_f32(kernel_slot(kernel, 2), kernel->tensors[2].dtype, offset + at, x, count);
    }
}

skrt_kernel_fn rms_norm;

void rms_norm(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    if (!kernel_open(&kernel, core, args_offset, 4, false) || kernel.tensors[0].rank == 0)
        return;
    const struct skrt_tensor *x = &kernel.tensors[0], *rstd = &kernel.tensors[3];
    int64_t n = x->dims[x->rank - 1], rows = kernel_product(x, 0, x->rank - 1);
    if (!kernel_same_dims(x, &kernel.tensors[2]) ||
        !kernel_is_vector(&kernel.tensors[1], kernel.tensors[1].dtype, n) ||
        rstd->dtype != SKRT_f32 || kernel_elements(rstd) != rows)
        return;

    const struct skrt_attr *epsilon = kernel_attr(&kernel, "epsilon");
    float added = (float)(epsilon != NULL ? epsilon->f : rms_norm_epsilon);
    struct kernel_range range = kernel_block_range(core, rows);
    for (int64_t row = range.begin; row < range.end; row++) {
        float value = rms_norm_rstd(&kernel, row * n, n, added);
        rms_norm_scale(&kernel, row * n, n, value);
        ((float *)kernel_slot(&kernel, 3))[row] = value;
    }
}
