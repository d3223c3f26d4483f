/* Softmax: y = exp(x - max) / sum(exp(x - max)) over the last axis, SoftmaxV2 over `axes`, and
 * LogSoftmaxV2: y = x - max - log(sum(exp(x - max))). The sum is f32, in eight lanes. */
#include "backend/kernels/axes.h"

#include <math.h>

enum { softmax_log = 0, softmax_v2_log = 0, log_softmax_v2_log = 1 };
enum { LOG = SAMPLE_OWN(_log), X = 0, Y, TENSORS };

struct softmax {
    struct kernel kernel;
    struct axes axes;
};

static void softmax_load(const struct softmax *op, float *x, int64_t line, int64_t at, int64_t n)
{
    axes_load_f32(&op->axes, x, kernel_slot(&op->kernel, X), op->kernel.tensors[X].dtype, line, at,
                  n);
}

static float softmax_max(const struct softmax *op, int64_t line)
{
    float max = -INFINITY, x[KERNEL_CHUNK];
    for (int64_t at = 0; at < op->axes.length; at += KERNEL_CHUNK) {
        int64_t n = kernel_min(KERNEL_CHUNK, op->axes.length - at);
        softmax_load(op, x, line, at, n);
        for (int64_t i = 0; i < n; i++)
            max = x[i] > max ? x[i] : max;
    }
    return max;
}

static float softmax_sum(const struct softmax *op, int64_t line, float max)
{
    float x[KERNEL_CHUNK];
    struct kernel_sum sum = {{0}};
    for (int64_t at = 0; at < op->axes.length; at += KERNEL_CHUNK) {
        int64_t n = kernel_min(KERNEL_CHUNK, op->axes.length - at);
        softmax_load(op, x, line, at, n);
        for (int64_t i = 0; i < n; i++)
            x[i] = expf(x[i] - max);
        kernel_sum_add(&sum, x, n);
    }
    return kernel_sum_total(&sum);
}

/* The exponentials are made twice, for the sum and for the result: a line has no upper bound that
 * a core could keep. */
static void softmax_line(const struct softmax *op, int64_t line)
{
    float x[KERNEL_CHUNK], max = softmax_max(op, line), sum = softmax_sum(op, line, max);
    float log = LOG ? logf(sum) : 0;
    for (int64_t at = 0; at < op->axes.length; at += KERNEL_CHUNK) {
        int64_t n = kernel_min(KERNEL_CHUNK, op->axes.length - at);
        softmax_load(op, x, line, at, n);
        for (int64_t i = 0; i < n; i++)
            x[i] = LOG ? x[i] - max - log : expf(x[i] - max) / sum;
        axes_store_f32(&op->axes, x, kernel_slot(&op->kernel, Y), op->kernel.tensors[Y].dtype, line,
                       at, n);
    }
}

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct softmax op;
    uint32_t set = 0;
    if (!kernel_open(&op.kernel, core, args_offset, TENSORS, false) ||
        !kernel_same_dims(&op.kernel.tensors[X], &op.kernel.tensors[Y]) ||
        !axes_choose_attr(&set, &op.kernel, &op.kernel.tensors[X], "axes", -1))
        return;
    axes_open(&op.axes, &op.kernel.tensors[X], set);
    struct kernel_range range = kernel_block_range(core, op.axes.lines);
    for (int64_t n = range.begin; n < range.end; n++)
        softmax_line(&op, axes_line(&op.axes, n));
}
