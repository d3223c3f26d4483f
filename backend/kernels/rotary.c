/* RotaryMul: y = x * r1 + turned(x) * r2, and RotaryPositionEmbedding, with cos and sin for r1 and
 * r2, over rows of the last dimension; r1 and r2 are broadcast to the others. Turned is the row's
 * second half, negated, with the first half behind it; with `mode` 1 each pair (a, b) becomes (-b,
 * a). */
#include "backend/kernels/broadcast.h"

enum { X, R1, R2, Y, TENSORS };

struct rotary {
    struct kernel kernel;
    int64_t rows, n;
    bool pairs;
};

static bool rotary_open(struct rotary *op, const skrt_core *core, uint64_t args_offset)
{
    if (!kernel_open(&op->kernel, core, args_offset, TENSORS, false))
        return false;
    const struct skrt_tensor *x = &op->kernel.tensors[X];
    op->n = x->dims[x->rank - 1];
    op->rows = kernel_product(x, 0, x->rank - 1);
    op->pairs = kernel_int(&op->kernel, "mode", 0) == 1;
    return true;
}

static void rotary_load(const struct rotary *op, float *to, unsigned tensor, int64_t offset,
                        int64_t n)
{
    kernel_load_f32(to, kernel_slot(&op->kernel, tensor), op->kernel.tensors[tensor].dtype, offset,
                    n);
}

/* Loads `n` elements of the turned row from column `at` on, which are of one half, or whole
 * pairs. */
static void rotary_turned(const struct rotary *op, float *to, int64_t row, int64_t at, int64_t n)
{
    int64_t half = op->n / 2, from = op->pairs ? at : at < half ? at + half : at - half;
    rotary_load(op, to, X, row * op->n + from, n);
    for (int64_t i = 0; op->pairs && i < n; i += 2) {
        float first = to[i];
        to[i] = -to[i + 1];
        to[i + 1] = first;
    }
    for (int64_t i = 0; !op->pairs && at < half && i < n; i++)
        to[i] = -to[i];
}

static void rotary_row(const struct rotary *op, int64_t row)
{
    const struct skrt_tensor *t = op->kernel.tensors;
    int64_t r = broadcast_offset(&t[R1], &t[X], 1, row), half = op->n / 2;
    for (int64_t at = 0, n; at < op->n; at += n) {
        float x[KERNEL_CHUNK], turned[KERNEL_CHUNK], r1[KERNEL_CHUNK], r2[KERNEL_CHUNK];
        n = kernel_min(KERNEL_CHUNK, op->pairs || at >= half ? op->n - at : half - at);
        rotary_load(op, x, X, row * op->n + at, n);
        rotary_load(op, r1, R1, r + at, n);
        rotary_load(op, r2, R2, r + at, n);
        rotary_turned(op, turned, row, at, n);
        for (int64_t i = 0; i < n; i++)
            x[i] = x[i] * r1[i] + turned[i] * r2[i];
        kernel_store_f32(kernel_slot(&op->kernel, Y), t[Y].dtype, row * op->n + at, x, n);
    }
}

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct rotary op;
    if (!rotary_open(&op, core, args_offset))
        return;
    struct kernel_range range = kernel_block_range(core, op.rows);
    for (int64_t row = range.begin; row < range.end; row++)
        rotary_row(&op, row);
}
