/* Softmax: y = exp(x - max) / sum(exp(x - max)) over the last axis. */
#include "backend/kernels/kernel.h"

#include <math.h>

static float softmax_max(const struct kernel *kernel, int64_t offset, int64_t n)
{
    float max = -INFINITY;
    for (int64_t at = 0; at < n; at += KERNEL_CHUNK) {
        float x[KERNEL_CHUNK];
        int64_t count = kernel_min(KERNEL_CHUNK, n - at);
        kernel_load_f32(x, kernel_slot(kernel, 0), kernel->tensors[0].dtype, offset + at, count);
        for (int64_t i = 0; i < count; i++)
            max = x[i] > max ? x[i] : max;
    }
    return max;
}

/* Loads a chunk of exp(x - max). Done once for the sum and once for the result: a row has no upper
 * bound that a core could keep. */
static void softmax_exp(const struct kernel *kernel, float *to, int64_t offset, int64_t n,
                        float max)
{
    kernel_load_f32(to, kernel_slot(kernel, 0), kernel->tensors[0].dtype, offset, n);
    for (int64_t i = 0; i < n; i++)
        to[i] = expf(to[i] - max);
}

static void softmax_row(const struct kernel *kernel, int64_t offset, int64_t n)
{
    float max = softmax_max(kernel, offset, n), exps[KERNEL_CHUNK];
    struct kernel_sum sum = {{0}};
    for (int64_t at = 0; at < n; at += KERNEL_CHUNK) {
        int64_t count = kernel_min(KERNEL_CHUNK, n - at);
        softmax_exp(kernel, exps, offset + at, count, max);
        kernel_sum_add(&sum, exps, count);
    }
    float total = kernel_sum_total(&sum);
    for (int64_t at = 0; at < n; at += KERNEL_CHUNK) {
        int64_t count = kernel_min(KERNEL_CHUNK, n - at);
        softmax_exp(kernel, exps, offset + at, count, max);
        for (int64_t i = 0; i < count; i++)
            exps[i] /= total;
        kernel_store_f32(kernel_slot(kernel, 1), kernel->tensors[1].dtype, offset + at, exps,
                         count);
    }
}

skrt_kernel_fn softmax;

void softmax(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    if (!kernel_open(&kernel, core, args_offset, 2, false) || kernel.tensors[0].rank == 0 ||
        !kernel_same_dims(&kernel.tensors[0], &kernel.tensors[1]))
        return;
    const struct skrt_tensor *x = &kernel.tensors[0];
    int64_t n = x->dims[x->rank - 1];
    struct kernel_range range = kernel_block_range(core, kernel_product(x, 0, x->rank - 1));
    for (int64_t row = range.begin; row < range.end; row++)
        softmax_row(&kernel, row * n, n);
}
