/* The product of two matrices, of which cores compute tiles. Every element is summed up in f32 in
 * the order of k, one product after the other, whatever the tiling; vectors run along n. */
#ifndef BACKEND_KERNELS_PRODUCT_H
#define BACKEND_KERNELS_PRODUCT_H

#include "backend/kernels/kernel.h"
#include "backend/kernels/nz.h"

/* The result is cut into tiles, the work of a block at a time; both operands are converted to f32
 * and packed for PRODUCT_DEPTH steps of k: x1 in strips of PRODUCT_STRIP_ROWS rows, x2 in strips
 * of PRODUCT_STRIP_COLUMNS columns, each with k outermost. Together they take 28 KiB of stack. */
enum {
    PRODUCT_ROWS = 64,
    PRODUCT_COLUMNS = 32,
    PRODUCT_DEPTH = 128,
    PRODUCT_STRIP_ROWS = 4,
    PRODUCT_STRIP_COLUMNS = 8,
    PRODUCT_VECTOR = 4
};

/* GCC and Clang map this to the vector registers of either machine. */
typedef float product_vector __attribute__((vector_size(PRODUCT_VECTOR * sizeof(float))));

/* A matrix as seen by the product, after transposition. */
struct product_view {
    const void *data;
    const struct skrt_tensor *tensor;
    bool nz, transposed;
    int64_t rows, columns;               /* logical */
    int64_t stored_rows, stored_columns; /* as the tensor says */
    int64_t base;                        /* element that the matrix at hand begins with */
};

/* A product of two matrices, and what is added to each row of it. */
struct product {
    struct product_view x1, x2;
    const struct skrt_tensor *bias, *result; /* bias NULL: none */
    const void *bias_data;
    void *result_data;
    int64_t bias_base, result_base; /* elements that the matrix at hand begins with */
    int64_t m, k, n;
};

struct product_tile {
    int64_t row, column, rows, columns;
    float sums[PRODUCT_ROWS][PRODUCT_COLUMNS] __attribute__((aligned(16)));
    float x2[PRODUCT_COLUMNS / PRODUCT_STRIP_COLUMNS][PRODUCT_DEPTH][PRODUCT_STRIP_COLUMNS]
        __attribute__((aligned(16)));
    float x1[PRODUCT_DEPTH][PRODUCT_STRIP_ROWS] __attribute__((aligned(16)));
};

/* A view of the last two dimensions of a tensor; false if it has none such, or no floats. */
static inline bool product_view_open(struct product_view *view, const struct skrt_tensor *tensor,
                                     const void *data, bool transposed)
{
    if (tensor->rank < 2 || !kernel_is_float(tensor->dtype))
        return false;
    *view = (struct product_view){.data = data,
                                  .tensor = tensor,
                                  .nz = tensor->format == SKRT_FRACTAL_NZ,
                                  .transposed = transposed,
                                  .stored_rows = tensor->dims[tensor->rank - 2],
                                  .stored_columns = tensor->dims[tensor->rank - 1]};
    view->rows = transposed ? view->stored_columns : view->stored_rows;
    view->columns = transposed ? view->stored_rows : view->stored_columns;
    return !view->nz || tensor->rank == 2;
}

static inline int64_t product_view_offset(const struct product_view *view, int64_t row,
                                          int64_t column)
{
    int64_t stored_row = view->transposed ? column : row;
    int64_t stored_column = view->transposed ? row : column;
    if (view->nz)
        return nz_offset(view->stored_rows, kernel_dtype_size(view->tensor->dtype), stored_row,
                         stored_column);
    return view->base + stored_row * view->stored_columns + stored_column;
}

/* The element, or zero outside the matrix. */
static inline float product_view_get(const struct product_view *view, int64_t row, int64_t column)
{
    float value = 0;
    if (row < view->rows && column < view->columns)
        kernel_load_f32(&value, view->data, view->tensor->dtype,
                        product_view_offset(view, row, column), 1);
    return value;
}

static inline void product_pack_x1(const struct product *op, struct product_tile *tile, int64_t row,
                                   int64_t k0, int64_t depth)
{
    for (int64_t k = 0; k < depth; k++)
        for (int i = 0; i < PRODUCT_STRIP_ROWS; i++)
            tile->x1[k][i] = product_view_get(&op->x1, row + i, k0 + k);
}

static inline void product_pack_x2(const struct product *op, struct product_tile *tile, int64_t k0,
                                   int64_t depth)
{
    for (int64_t k = 0; k < depth; k++)
        for (int64_t j = 0; j < PRODUCT_COLUMNS; j++)
            tile->x2[j / PRODUCT_STRIP_COLUMNS][k][j % PRODUCT_STRIP_COLUMNS] =
                product_view_get(&op->x2, k0 + k, tile->column + j);
}

/* sums += x1 strip * x2 strip; the sums stay in registers over the whole depth. */
static inline void product_strip(float (*sums)[PRODUCT_COLUMNS],
                                 const float (*x1)[PRODUCT_STRIP_ROWS],
                                 const float (*x2)[PRODUCT_STRIP_COLUMNS], int64_t depth)
{
    product_vector acc[PRODUCT_STRIP_ROWS][2];
    for (int i = 0; i < PRODUCT_STRIP_ROWS; i++)
        memcpy(acc[i], sums[i], sizeof acc[i]);
    for (int64_t k = 0; k < depth; k++) {
        product_vector b[2];
        memcpy(b, x2[k], sizeof b);
        for (int i = 0; i < PRODUCT_STRIP_ROWS; i++) {
            acc[i][0] += x1[k][i] * b[0];
            acc[i][1] += x1[k][i] * b[1];
        }
    }
    for (int i = 0; i < PRODUCT_STRIP_ROWS; i++)
        memcpy(sums[i], acc[i], sizeof acc[i]);
}

static inline void product_accumulate(const struct product *op, struct product_tile *tile)
{
    memset(tile->sums, 0, sizeof tile->sums);
    for (int64_t k0 = 0; k0 < op->k; k0 += PRODUCT_DEPTH) {
        int64_t depth = kernel_min(PRODUCT_DEPTH, op->k - k0);
        product_pack_x2(op, tile, k0, depth);
        for (int64_t i = 0; i < tile->rows; i += PRODUCT_STRIP_ROWS) {
            product_pack_x1(op, tile, tile->row + i, k0, depth);
            for (int64_t j = 0; j < tile->columns; j += PRODUCT_STRIP_COLUMNS)
                product_strip(
                    (float(*)[PRODUCT_COLUMNS]) & tile->sums[i][j],
                    (const float(*)[PRODUCT_STRIP_ROWS])tile->x1,
                    (const float(*)[PRODUCT_STRIP_COLUMNS])tile->x2[j / PRODUCT_STRIP_COLUMNS],
                    depth);
        }
    }
}

static inline void product_add_bias(const struct product *op, struct product_tile *tile)
{
    float added[PRODUCT_COLUMNS];
    kernel_load_f32(added, op->bias_data, op->bias->dtype, op->bias_base + tile->column,
                    tile->columns);
    for (int64_t i = 0; i < tile->rows; i++)
        for (int64_t j = 0; j < tile->columns; j++)
            tile->sums[i][j] += added[j];
}

static inline int64_t product_down(const struct product *op)
{
    return (op->m + PRODUCT_ROWS - 1) / PRODUCT_ROWS;
}

/* The number of the result's tiles. */
static inline int64_t product_tiles(const struct product *op)
{
    return product_down(op) * ((op->n + PRODUCT_COLUMNS - 1) / PRODUCT_COLUMNS);
}

/* Computes a tile of the matrix at hand; `biased`: there may be a bias. */
static inline void product_compute(const struct product *op, int64_t index, bool biased)
{
    struct product_tile tile;
    tile.row = index % product_down(op) * PRODUCT_ROWS;
    tile.column = index / product_down(op) * PRODUCT_COLUMNS;
    tile.rows = kernel_min(PRODUCT_ROWS, op->m - tile.row);
    tile.columns = kernel_min(PRODUCT_COLUMNS, op->n - tile.column);
    product_accumulate(op, &tile);
    if (biased && op->bias != NULL)
        product_add_bias(op, &tile);
    for (int64_t i = 0; i < tile.rows; i++)
        kernel_store_f32(op->result_data, op->result->dtype,
                         op->result_base + (tile.row + i) * op->n + tile.column, tile.sums[i],
                         tile.columns);
}

#endif
