/* MatMul and BatchMatMul: y[m, n] = x1[m, k] * x2[k, n], where the leading dimensions are
 * broadcast to those of y; MatMulV2 and BatchMatMulV2 add a bias for each column to the sum.
 *
 * Attributes say that an operand is stored as [k, m] or [n, k]. Matrices (rank 2) of f32, f16 and
 * bf16 may be in FRACTAL_NZ, and are multiplied in tiles; others element by element, in their own
 * type. */
#include "backend/kernels/broadcast.h"
#include "backend/kernels/product.h"

/* Whether operands are there for a bias and for what must be absent, and what the attributes are
 * called. */
enum {
    mat_mul_biased = 0,
    mat_mul_v2_biased = 1,
    batch_mat_mul_biased = 0,
    batch_mat_mul_v2_biased = 1
};
enum {
    mat_mul_batched = 0,
    mat_mul_v2_batched = 0,
    batch_mat_mul_batched = 1,
    batch_mat_mul_v2_batched = 1
};
enum { BIASED = SAMPLE_OWN(_biased), BATCHED = SAMPLE_OWN(_batched) };
enum { X1, X2, BIAS, UNUSED, Y = 2 + 2 * BIASED, TENSORS };

struct mat_mul {
    struct kernel kernel;
    struct product product;
    int64_t batches;
};

/* The operands as the attributes say. */
static bool mat_mul_views(struct mat_mul *op)
{
    static const char *const flags[] = {BATCHED ? "adj_x1" : "transpose_x1",
                                        BATCHED ? "adj_x2" : "transpose_x2"};
    const struct kernel *kernel = &op->kernel;
    return product_view_open(&op->product.x1, &kernel->tensors[X1], kernel_slot(kernel, X1),
                             kernel_flag(kernel, flags[0], false)) &&
           product_view_open(&op->product.x2, &kernel->tensors[X2], kernel_slot(kernel, X2),
                             kernel_flag(kernel, flags[1], false));
}

static bool mat_mul_fits(const struct mat_mul *op)
{
    const struct product *product = &op->product;
    const struct skrt_tensor *y = product->result;
    return product->x2.rows == product->k && y->dims[y->rank - 2] == product->m &&
           y->dims[y->rank - 1] == product->n && broadcast_fits(product->x1.tensor, y, 2) &&
           broadcast_fits(product->x2.tensor, y, 2) &&
           (product->bias == NULL || kernel_elements(product->bias) == product->n);
}

static bool mat_mul_open(struct mat_mul *op, const skrt_core *core, uint64_t args_offset)
{
    struct product *product = &op->product;
    memset(product, 0, sizeof *product);
    if (!kernel_open(&op->kernel, core, args_offset, TENSORS, false) || !mat_mul_views(op))
        return false;
    const struct skrt_tensor *y = &op->kernel.tensors[Y], *bias = &op->kernel.tensors[BIAS];
    product->m = product->x1.rows;
    product->k = product->x1.columns;
    product->n = product->x2.columns;
    product->result = y;
    product->result_data = kernel_slot(&op->kernel, Y);
    product->bias = BIASED && bias->form != SKRT_ABSENT ? bias : NULL;
    product->bias_data = kernel_slot(&op->kernel, BIAS);
    op->batches = y->rank < 2 ? 0 : kernel_product(y, 0, y->rank - 2);
    return y->rank >= 2 && mat_mul_fits(op) &&
           kernel_is_float(product->x1.tensor->dtype) == kernel_is_float(y->dtype) &&
           kernel_is_float(product->x1.tensor->dtype) == kernel_is_float(product->x2.tensor->dtype);
}

/* One element, `n` of y. */
#define MAT_MUL_PLAIN(as, type)                                                                    \
    static void mat_mul_##as(const struct mat_mul *op, int64_t n)                                  \
    {                                                                                              \
        const struct product *product = &op->product;                                              \
        const struct product_view *x1 = &product->x1, *x2 = &product->x2;                          \
        uint32_t dtype = product->result->dtype;                                                   \
        int64_t column = n % product->n, row = n / product->n % product->m;                        \
        int64_t batch = n / product->n / product->m;                                               \
        int64_t from1 = broadcast_offset(x1->tensor, product->result, 2, batch);                   \
        int64_t from2 = broadcast_offset(x2->tensor, product->result, 2, batch);                   \
        type sum = 0, a, b;                                                                        \
        for (int64_t k = 0; k < product->k; k++) {                                                 \
            int64_t at1 = x1->transposed ? k * product->m + row : row * product->k + k;            \
            int64_t at2 = x2->transposed ? column * product->k + k : k * product->n + column;      \
            kernel_load_##as(&a, x1->data, dtype, from1 + at1, 1);                                 \
            kernel_load_##as(&b, x2->data, dtype, from2 + at2, 1);                                 \
            sum += a * b;                                                                          \
        }                                                                                          \
        if (product->bias != NULL) {                                                               \
            kernel_load_##as(&a, product->bias_data, dtype, column, 1);                            \
            sum += a;                                                                              \
        }                                                                                          \
        kernel_store_##as(product->result_data, dtype, n, &sum, 1);                                \
    }
MAT_MUL_PLAIN(f64, double)
MAT_MUL_PLAIN(u64, uint64_t)

/* Whether all are of one type, in its own order. */
static bool mat_mul_is_plain(const struct mat_mul *op)
{
    const struct product *product = &op->product;
    uint32_t dtype = product->result->dtype;
    return product->x1.tensor->dtype == dtype && product->x2.tensor->dtype == dtype &&
           !product->x1.nz && !product->x2.nz &&
           (product->bias == NULL || product->bias->dtype == dtype);
}

static void mat_mul_elements(const struct mat_mul *op, const skrt_core *core)
{
    struct kernel_range range = kernel_block_range(core, kernel_elements(op->product.result));
    bool floats = op->product.result->dtype == SKRT_f64;
    for (int64_t n = range.begin; mat_mul_is_plain(op) && n < range.end; n++)
        (floats ? mat_mul_f64 : mat_mul_u64)(op, n);
}

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct mat_mul op;
    if (!mat_mul_open(&op, core, args_offset))
        return;
    if (!kernel_is_float(op.kernel.tensors[X1].dtype)) {
        mat_mul_elements(&op, core);
        return;
    }
    struct product *product = &op.product;
    int64_t tiles = product_cut(product, skrt_block_num(core));
    struct kernel_range range = kernel_block_range(core, op.batches * tiles);
    for (int64_t index = range.begin; index < range.end; index++) {
        int64_t batch = index / tiles;
        product->x1.base = broadcast_offset(product->x1.tensor, product->result, 2, batch);
        product->x2.base = broadcast_offset(product->x2.tensor, product->result, 2, batch);
        product->result_base = batch * product->m * product->n;
        product_compute(product, index % tiles, BIASED);
    }
}
