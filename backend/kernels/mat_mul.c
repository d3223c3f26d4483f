/* MatMul: y[m, n] = x1[m, k] * x2[k, n], over equal leading batch dimensions.
 *
 * The attributes transpose_x1 and transpose_x2 say that an operand is stored as [k, m] or [n, k].
 * Matrices (rank 2) may be in FRACTAL_NZ. Every element is summed up in f32 in the order of k, one
 * product after the other, whatever the tiling; vectors run along n.
 */
#include "backend/kernels/kernel.h"
#include "backend/kernels/nz.h"

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
    uint32_t dtype;
    bool nz, transposed;
    int64_t rows, columns;               /* logical */
    int64_t stored_rows, stored_columns; /* as the tensor says */
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
                                  .dtype = tensor->dtype,
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
    if (!kernel_open(&op->kernel, core, args_offset, 3, false) ||
        !mat_mul_view_open(&op->x1, &op->kernel, 0,
                           kernel_flag(&op->kernel, "transpose_x1", false)) ||
        !mat_mul_view_open(&op->x2, &op->kernel, 1,
                           kernel_flag(&op->kernel, "transpose_x2", false)))
        return false;
    const struct skrt_tensor *x1 = &op->kernel.tensors[0], *x2 = x1 + 1, *y = x1 + 2;
    if (x2->rank != x1->rank || y->rank != x1->rank)
        return false;
    size_t batch_size = (x1->rank - 2) * sizeof x1->dims[0];
    op->batches = kernel_product(y, 0, y->rank - 2);
    op->m = op->x1.rows;
    op->k = op->x1.columns;
    op->n = op->x2.columns;
    return op->x2.rows == op->k && y->dims[y->rank - 2] == op->m && y->dims[y->rank - 1] == op->n &&
           memcmp(x1->dims, y->dims, batch_size) == 0 && memcmp(x2->dims, y->dims, batch_size) == 0;
}

static int64_t mat_mul_view_offset(const struct mat_mul_view *view, int64_t batch, int64_t row,
                                   int64_t column)
{
    int64_t stored_row = view->transposed ? column : row;
    int64_t stored_column = view->transposed ? row : column;
    if (view->nz)
        return nz_offset(view->stored_rows, kernel_dtype_size(view->dtype), stored_row,
                         stored_column);
    return (batch * view->stored_rows + stored_row) * view->stored_columns + stored_column;
}

/* The element, or zero outside the matrix. */
static float mat_mul_view_get(const struct mat_mul_view *view, int64_t batch, int64_t row,
                              int64_t column)
{
    float value = 0;
    if (row < view->rows && column < view->columns)
        kernel_load_f32(&value, view->data, view->dtype,
                        mat_mul_view_offset(view, batch, row, column), 1);
    return value;
}

static void mat_mul_pack_x1(const struct mat_mul *op, struct mat_mul_tile *tile, int64_t batch,
                            int64_t row, int64_t k0, int64_t depth)
{
    for (int64_t k = 0; k < depth; k++)
        for (int i = 0; i < STRIP_ROWS; i++)
            tile->x1[k][i] = mat_mul_view_get(&op->x1, batch, row + i, k0 + k);
}

static void mat_mul_pack_x2(const struct mat_mul *op, struct mat_mul_tile *tile, int64_t batch,
                            int64_t k0, int64_t depth)
{
    for (int64_t k = 0; k < depth; k++)
        for (int64_t j = 0; j < MAT_MUL_COLUMNS; j++)
            tile->x2[j / STRIP_COLUMNS][k][j % STRIP_COLUMNS] =
                mat_mul_view_get(&op->x2, batch, k0 + k, tile->column + j);
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

static void mat_mul_accumulate(const struct mat_mul *op, struct mat_mul_tile *tile, int64_t batch)
{
    memset(tile->sums, 0, sizeof tile->sums);
    for (int64_t k0 = 0; k0 < op->k; k0 += MAT_MUL_DEPTH) {
        int64_t depth = kernel_min(MAT_MUL_DEPTH, op->k - k0);
        mat_mul_pack_x2(op, tile, batch, k0, depth);
        for (int64_t i = 0; i < tile->rows; i += STRIP_ROWS) {
            mat_mul_pack_x1(op, tile, batch, tile->row + i, k0, depth);
            for (int64_t j = 0; j < tile->columns; j += STRIP_COLUMNS)
                mat_mul_strip((float(*)[MAT_MUL_COLUMNS]) & tile->sums[i][j],
                              (const float(*)[STRIP_ROWS])tile->x1,
                              (const float(*)[STRIP_COLUMNS])tile->x2[j / STRIP_COLUMNS], depth);
        }
    }
}

static void mat_mul_store(const struct mat_mul *op, const struct mat_mul_tile *tile, int64_t batch)
{
    for (int64_t i = 0; i < tile->rows; i++)
        kernel_store_f32(kernel_slot(&op->kernel, 2), op->kernel.tensors[2].dtype,
                         (batch * op->m + tile->row + i) * op->n + tile->column, tile->sums[i],
                         tile->columns);
}

skrt_kernel_fn mat_mul;

void mat_mul(skrt_core *core, uint64_t args_offset)
{
    struct mat_mul op;
    if (!mat_mul_open(&op, core, args_offset))
        return;
    int64_t down = (op.m + MAT_MUL_ROWS - 1) / MAT_MUL_ROWS;
    int64_t across = (op.n + MAT_MUL_COLUMNS - 1) / MAT_MUL_COLUMNS;
    struct kernel_range range = kernel_block_range(core, op.batches * down * across);
    for (int64_t index = range.begin; index < range.end; index++) {
        struct mat_mul_tile tile;
        int64_t batch = index / (down * across);
        tile.row = index % down * MAT_MUL_ROWS;
        tile.column = index / down % across * MAT_MUL_COLUMNS;
        tile.rows = kernel_min(MAT_MUL_ROWS, op.m - tile.row);
        tile.columns = kernel_min(MAT_MUL_COLUMNS, op.n - tile.column);
        mat_mul_accumulate(&op, &tile, batch);
        mat_mul_store(&op, &tile, batch);
    }
}
