/* MoeGatingTopKSoftmax: of each row of x, the k largest elements of its softmax, largest first,
 * and the experts that they are for; of equal ones the first comes first. A row that is finished
 * has the number of experts for an expert. row_idx counts the rows of the results column by
 * column. */
#include "backend/kernels/exponentials.h"
#include "backend/kernels/kernel.h"

#include <math.h>

enum { X, FINISHED, Y, EXPERT, ROW, TENSORS };

struct gating {
    struct kernel kernel;
    int64_t rows, experts, k;
};

static bool gating_open(struct gating *op, const skrt_core *core, uint64_t args_offset)
{
    const struct kernel *kernel = &op->kernel;
    if (!kernel_open(&op->kernel, core, args_offset, TENSORS, false))
        return false;
    const struct skrt_tensor *x = &kernel->tensors[X];
    op->experts = x->dims[x->rank - 1];
    op->rows = kernel_product(x, 0, x->rank - 1);
    op->k = kernel_int(kernel, "k", 0);
    return true;
}

static int64_t gating_load(const struct gating *op, float *x, int64_t row, int64_t at)
{
    int64_t n = kernel_min(KERNEL_CHUNK, op->experts - at);
    kernel_load_f32(x, kernel_slot(&op->kernel, X), op->kernel.tensors[X].dtype,
                    row * op->experts + at, n);
    return n;
}

/* The largest element behind the one of expert `last` (-1: of all); `*value` is that one's, and
 * becomes this one's. NaN is looked at last. */
static int64_t gating_next(const struct gating *op, int64_t row, int64_t last, float *value)
{
    float x[KERNEL_CHUNK], best = -INFINITY;
    int64_t found = -1;
    for (int64_t at = 0, n; at < op->experts; at += n) {
        n = gating_load(op, x, row, at);
        for (int64_t i = 0; i < n; i++) {
            float here = x[i] == x[i] ? x[i] : -INFINITY;
            bool behind = last < 0 || here < *value || (here == *value && at + i > last);
            bool better = behind && (found < 0 || here > best);
            found = better ? at + i : found;
            best = better ? here : best;
        }
    }
    *value = best;
    return found;
}

static float gating_sum(const struct gating *op, int64_t row, float max)
{
    float x[KERNEL_CHUNK];
    struct kernel_sum sum = {{0}};
    for (int64_t at = 0, n; at < op->experts; at += n) {
        n = gating_load(op, x, row, at);
        exponentials(x, max, n);
        kernel_sum_add(&sum, x, n);
    }
    return kernel_sum_total(&sum);
}

static void gating_row(const struct gating *op, int64_t row)
{
    const uint8_t *finished = op->kernel.tensors[FINISHED].form == SKRT_ABSENT
                                  ? NULL
                                  : kernel_slot(&op->kernel, FINISHED);
    int32_t *experts = kernel_slot(&op->kernel, EXPERT), *rows = kernel_slot(&op->kernel, ROW);
    float max = 0, value = 0;
    gating_next(op, row, -1, &max);
    float sum = gating_sum(op, row, max);
    int64_t expert = -1;
    for (int64_t i = 0; i < op->k; i++) {
        expert = gating_next(op, row, expert, &value);
        float y = elementary_exp(value - max) / sum;
        kernel_store_f32(kernel_slot(&op->kernel, Y), op->kernel.tensors[Y].dtype, row * op->k + i,
                         &y, 1);
        experts[row * op->k + i] = (int32_t)(finished && finished[row] ? op->experts : expert);
        rows[row * op->k + i] = (int32_t)(i * op->rows + row);
    }
}

skrt_kernel_fn moe_gating_top_k_softmax;

void moe_gating_top_k_softmax(skrt_core *core, uint64_t args_offset)
{
    struct gating op;
    if (!gating_open(&op, core, args_offset))
        return;
    struct kernel_range range = kernel_block_range(core, op.rows);
    for (int64_t row = range.begin; row < range.end; row++)
        gating_row(&op, row);
}
