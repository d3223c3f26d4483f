/* ScaledMaskedSoftmax: the softmax of x * scale over the last axis, where elements that the mask
 * names count as -10000. The mask is broadcast to x; with `fixed_triu_mask` it is what stands
 * right of the diagonal of the last two axes. */
#include "backend/kernels/broadcast.h"
#include "backend/kernels/exponentials.h"

#include <math.h>

enum { X, MASK, Y, TENSORS };

static const float masked_value = -10000;

struct masked_softmax {
    struct kernel kernel;
    int64_t rows, n;
    float scale;
    bool triangle;
};

static bool masked_softmax_open(struct masked_softmax *op, const skrt_core *core,
                                uint64_t args_offset)
{
    const struct kernel *kernel = &op->kernel;
    if (!kernel_open(&op->kernel, core, args_offset, TENSORS, false))
        return false;
    const struct skrt_tensor *x = &kernel->tensors[X];
    op->scale = kernel_float(kernel, "scale", 1);
    op->triangle = kernel_flag(kernel, "fixed_triu_mask", false);
    op->n = x->dims[x->rank - 1];
    op->rows = kernel_product(x, 0, x->rank - 1);
    return true;
}

/* Loads scaled elements of a row, masked. */
static void masked_softmax_load(const struct masked_softmax *op, float *to, int64_t row, int64_t at,
                                int64_t n)
{
    const struct skrt_tensor *x = &op->kernel.tensors[X], *mask = &op->kernel.tensors[MASK];
    const uint8_t *named = mask->form == SKRT_ABSENT ? NULL : kernel_slot(&op->kernel, MASK);
    int64_t diagonal = row % x->dims[x->rank - 2];
    kernel_load_f32(to, kernel_slot(&op->kernel, X), x->dtype, row * op->n + at, n);
    for (int64_t i = 0; i < n; i++) {
        bool masked = op->triangle
                          ? at + i > diagonal
                          : named && named[broadcast_offset(mask, x, 0, row * op->n + at + i)];
        to[i] = masked ? masked_value : to[i] * op->scale;
    }
}

static void masked_softmax_row(const struct masked_softmax *op, int64_t row)
{
    float x[KERNEL_CHUNK], max = -INFINITY;
    struct kernel_sum sum = {{0}};
    for (int64_t at = 0; at < op->n; at += KERNEL_CHUNK) {
        int64_t n = kernel_min(KERNEL_CHUNK, op->n - at);
        masked_softmax_load(op, x, row, at, n);
        for (int64_t i = 0; i < n; i++)
            max = x[i] > max ? x[i] : max;
    }
    for (int64_t at = 0; at < op->n; at += KERNEL_CHUNK) {
        int64_t n = kernel_min(KERNEL_CHUNK, op->n - at);
        masked_softmax_load(op, x, row, at, n);
        exponentials(x, max, n);
        kernel_sum_add(&sum, x, n);
    }
    float total = kernel_sum_total(&sum);
    for (int64_t at = 0; at < op->n; at += KERNEL_CHUNK) {
        int64_t n = kernel_min(KERNEL_CHUNK, op->n - at);
        masked_softmax_load(op, x, row, at, n);
        exponentials(x, max, n);
        for (int64_t i = 0; i < n; i++)
            x[i] /= total;
        kernel_store_f32(kernel_slot(&op->kernel, Y), op->kernel.tensors[Y].dtype, row * op->n + at,
                         x, n);
    }
}

skrt_kernel_fn scaled_masked_softmax;

void scaled_masked_softmax(skrt_core *core, uint64_t args_offset)
{
    struct masked_softmax op;
    if (!masked_softmax_open(&op, core, args_offset))
        return;
    struct kernel_range range = kernel_block_range(core, op.rows);
    for (int64_t row = range.begin; row < range.end; row++)
        masked_softmax_row(&op, row);
}
