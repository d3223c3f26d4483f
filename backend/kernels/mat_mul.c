/* MatMul and BatchMatMul: y[m, n] = x1[m, k] * x2[k, n], where the leading dimensions are broadcast
 * to those of y; MatMulV2 and BatchMatMulV2 add a bias for each column to the sum.
 *
 * Attributes say that an operand is stored as [k, m] or [n, k]. Matrices (rank 2) may be in
 * FRACTAL_NZ. Every element is summed up in f32 in the order of k, one product after the other,
 * whatever the tiling; vectors run along n.
 */
#include "backend/kernels/broadcast.h"
#include "backend/kernels/nz.h"

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

/* The result is cut into tiles, the work of a block at a time; both operands are converted to f32
 * and packed for `MAT_MUL_DEPTH` steps of k: x1 in strips of STRIP_ROWS rows, x2 in strips of
 * STRIP_COLUMNS columns, each with k outermost. Together they take 28 KiB of stack. */
enum {
    MAT_MUL_ROWS = 64,
    MAT_MUL_COLUMNS = 32,
    MAT_MUL_DEPTH = 128,
    STRIP_ROWS = 4,
    STRIP_COLUMNS = 8,
    VECTOR = 4
};

/* GCC and Clang map this to the vector registers of either machine. */
typedef float mat_mul_vector __attribute__((vector_size(VECTOR * sizeof(float))));

/* A matrix as seen by the product, after transposition. */
struct mat_mul_view {
    const void *data;
    const struct skrt_tensor *tensor;
    bool nz, transposed;
    int64_t rows, columns;               /* logical */
    int64_t stored_rows, stored_columns; /* as the tensor says */
    int64_t base;                        /* element that the batch at hand begins with */
};

struct mat_mul {
    struct kernel kernel;
    struct mat_mul_view x1, x2;
    int64_t batches, m, k, n;
};

struct mat_mul_tile {
    int64_t row, column, rows, columns;
    float sums[MAT_MUL_ROWS][MAT_MUL_COLUMNS] __attribute__((aligned(16)));
    float x2[MAT_MUL_COLUMNS / STRIP_COLUMNS][MAT_MUL_DEPTH][STRIP_COLUMNS]
        __attribute__((aligned(16)));
    float x1[MAT_MUL_DEPTH][STRIP_ROWS] __attribute__((aligned(16)));
};

static bool mat_mul_view_open(struct mat_mul_view *view, const struct kernel *kernel,
                              unsigned index, bool transposed)
{
    const struct skrt_tensor *tensor = &kernel->tensors[index];
    if (tensor->rank < 2 || !kernel_is_float(tensor->dtype))
        return false;
    *view = (struct mat_mul_view){.data = kernel_slot(kernel, index),
                                  .tensor = tensor,
                                  .nz = tensor->format == SKRT_FRACTAL_NZ,
                                  .transposed = transposed,
                                  .stored_rows = tensor->dims[tensor->rank - 2],
                                  .stored_columns = tensor->dims[tensor->rank - 1]};
    view->rows = transposed ? view->stored_columns : view->stored_rows;
    view->columns = transposed ? view->stored_rows : view->stored_columns;
    return !view->nz || tensor->rank == 2;
}

static bool mat_mul_open(struct mat_mul *op, const skrt_core *core, uint64_t args_offset)
{
    static const char *const flags[] = {BATCHED ? "adj_x1" : "transpose_x1",
                                        BATCHED ? "adj_x2" : "transpose_x2"};
    if (!kernel_open(&op->kernel, core, args_offset, TENSORS, false) ||
        !mat_mul_view_open(&op->x1, &op->kernel, X1, kernel_flag(&op->kernel, flags[0], false)) ||
        !mat_mul_view_open(&op->x2, &op->kernel, X2, kernel_flag(&op->kernel, flags[1], false)))
        return false;
    const struct skrt_tensor *x1 = &op->kernel.tensors[X1], *x2 = &op->kernel.tensors[X2];
    const struct skrt_tensor *y = &op->kernel.tensors[Y], *bias = &op->kernel.tensors[BIAS];
    if (y->rank < 2)
        return false;
    op->batches = kernel_product(y, 0, y->rank - 2);
    op->m = op->x1.rows;
    op->k = op->x1.columns;
    op->n = op->x2.columns;
    return op->x2.rows == op->k && y->dims[y->rank - 2] == op->m && y->dims[y->rank - 1] == op->n &&
           broadcast_fits(x1, y, 2) && broadcast_fits(x2, y, 2) &&
           (!BIASED || bias->form == SKRT_ABSENT || kernel_elements(bias) == op->n);
}

static int64_t mat_mul_view_offset(const struct mat_mul_view *view, int64_t row, int64_t column)
{
    int64_t stored_row = view->transposed ? column : row;
    int64_t stored_column = view->transposed ? row : column;
    if (view->nz)
        return nz_offset(view->stored_rows, kernel_dtype_size(view->tensor->dtype), stored_row,
                         stored_column);
    return view->base + stored_row * view->stored_columns + stored_column;
}

/* The element, or zero outside the matrix. */
static float mat_mul_view_get(const struct mat_mul_view *view, int64_t row, int64_t column)
{
    float value = 0;
    if (row < view->rows && column < view->columns)
        kernel_load_f32(&value, view->data, view->tensor->dtype,
                        mat_mul_view_offset(view, row, column), 1);
    return value;
}

static void mat_mul_pack_x1(const struct mat_mul *op, struct mat_mul_tile *tile, int64_t row,
                            int64_t k0, int64_t depth)
{
    for (int64_t k = 0; k < depth; k++)
        for (int i = 0; i < STRIP_ROWS; i++)
            tile->x1[k][i] = mat_mul_view_get(&op->x1, row + i, k0 + k);
}

static void mat_mul_pack_x2(const struct mat_mul *op, struct mat_mul_tile *tile, int64_t k0,
                            int64_t depth)
{
    for (int64_t k = 0; k < depth; k++)
        for (int64_t j = 0; j < MAT_MUL_COLUMNS; j++)
            tile->x2[j / STRIP_COLUMNS][k][j % STRIP_COLUMNS] =
                mat_mul_view_get(&op->x2, k0 + k, tile->column + j);
}

/* sums += x1 strip * x2 strip; the sums stay in registers over the whole depth. */
static void mat_mul_strip(float (*sums)[MAT_MUL_COLUMNS], const float (*x1)[STRIP_ROWS],
                          const float (*x2)[STRIP_COLUMNS], int64_t depth)
{
    mat_mul_vector acc[STRIP_ROWS][2];
    for (int i = 0; i < STRIP_ROWS; i++)
        memcpy(acc[i], sums[i], sizeof acc[i]);
    for (int64_t k = 0; k < depth; k++) {
        mat_mul_vector b[2];
        memcpy(b, x2[k], sizeof b);
        for (int i = 0; i < STRIP_ROWS; i++) {
            acc[i][0] += x1[k][i] * b[0];
            acc[i][1] += x1[k][i] * b[1];
        }
    }
    for (int i = 0; i < STRIP_ROWS; i++)
        memcpy(sums[i], acc[i], sizeof acc[i]);
}

static void mat_mul_accumulate(const struct mat_mul *op, struct mat_mul_tile *tile)
{
    memset(tile->sums, 0, sizeof tile->sums);
    for (int64_t k0 = 0; k0 < op->k; k0 += MAT_MUL_DEPTH) {
        int64_t depth = kernel_min(MAT_MUL_DEPTH, op->k - k0);
        mat_mul_pack_x2(op, tile, k0, depth);
        for (int64_t i = 0; i < tile->rows; i += STRIP_ROWS) {
            mat_mul_pack_x1(op, tile, tile->row + i, k0, depth);
            for (int64_t j = 0; j < tile->columns; j += STRIP_COLUMNS)
                mat_mul_strip((float(*)[MAT_MUL_COLUMNS]) & tile->sums[i][j],
                              (const float(*)[STRIP_ROWS])tile->x1,
                              (const float(*)[STRIP_COLUMNS])tile->x2[j / STRIP_COLUMNS], depth);
        }
    }
}

static void mat_mul_add_bias(const struct mat_mul *op, struct mat_mul_tile *tile)
{
    const struct skrt_tensor *bias = &op->kernel.tensors[BIAS];
    float added[MAT_MUL_COLUMNS];
    if (!BIASED || bias->form == SKRT_ABSENT)
        return;
    kernel_load_f32(added, kernel_slot(&op->kernel, BIAS), bias->dtype, tile->column,
                    tile->columns);
    for (int64_t i = 0; i < tile->rows; i++)
        for (int64_t j = 0; j < tile->columns; j++)
            tile->sums[i][j] += added[j];
}

static void mat_mul_store(const struct mat_mul *op, const struct mat_mul_tile *tile, int64_t batch)
{
    for (int64_t i = 0; i < tile->rows; i++)
        kernel_store_f32(kernel_slot(&op->kernel, Y), op->kernel.tensors[Y].dtype,
                         (batch * op->m + tile->row + i) * op->n + tile->column, tile->sums[i],
                         tile->columns);
}

static void mat_mul_tile(struct mat_mul *op, int64_t batch, int64_t row, int64_t column)
{
    struct mat_mul_tile tile;
    const struct skrt_tensor *y = &op->kernel.tensors[Y];
    op->x1.base = broadcast_offset(op->x1.tensor, y, 2, batch);
    op->x2.base = broadcast_offset(op->x2.tensor, y, 2, batch);
    tile.row = row;
    tile.column = column;
    tile.rows = kernel_min(MAT_MUL_ROWS, op->m - row);
    tile.columns = kernel_min(MAT_MUL_COLUMNS, op->n - column);
    mat_mul_accumulate(op, &tile);
    mat_mul_add_bias(op, &tile);
    mat_mul_store(op, &tile, batch);
}

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct mat_mul op;
    if (!mat_mul_open(&op, core, args_offset))
        return;
    int64_t down = (op.m + MAT_MUL_ROWS - 1) / MAT_MUL_ROWS;
    int64_t across = (op.n + MAT_MUL_COLUMNS - 1) / MAT_MUL_COLUMNS;
    struct kernel_range range = kernel_block_range(core, op.batches * down * across);
    for (int64_t index = range.begin; index < range.end; index++)
        mat_mul_tile(&op, index / (down * across), index % down * MAT_MUL_ROWS,
                     index / down % across * MAT_MUL_COLUMNS);
}
