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

static bool mat_mul_open(struct mat_mul *op, const skrt_core *core, uint64_t args_offset)
{
    struct product *product = &op->product;
    memset(product, 0, sizeof *product);
    if (!kernel_open(&op->kernel, core, args_offset, TENSORS, false))
        return false;
    const struct kernel *kernel = &op->kernel;
    product_view_open(&product->x1, &kernel->tensors[X1], kernel_slot(kernel, X1),
                      kernel_flag(kernel, BATCHED ? "adj_x1" : "transpose_x1", false));
    product_view_open(&product->x2, &kernel->tensors[X2], kernel_slot(kernel, X2),
                      kernel_flag(kernel, BATCHED ? "adj_x2" : "transpose_x2", false));
    const struct skrt_tensor *y = &op->kernel.tensors[Y], *bias = &op->kernel.tensors[BIAS];
    product->m = product->x1.rows;
    product->k = product->x1.columns;
    product->n = product->x2.columns;
    product->result = y;
    product->result_data = kernel_slot(&op->kernel, Y);
    product->bias = BIASED && bias->form != SKRT_ABSENT ? bias : NULL;
    product->bias_data = kernel_slot(&op->kernel, BIAS);
    op->batches = kernel_product(y, 0, y->rank - 2);
    return true;
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

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct mat_mul op;
    if (!mat_mul_open(&op, core, args_offset))
        return;
    if (!kernel_is_float(op.kernel.tensors[X1].dtype)) {
        struct kernel_range range = kernel_block_range(core, kernel_elements(op.product.result));
        bool floats = op.product.result->dtype == SKRT_f64;
        for (int64_t n = range.begin; n < range.end; n++)
            (floats ? mat_mul_f64 : mat_mul_u64)(&op, n);
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
