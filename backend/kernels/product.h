/* The product of two matrices, of which cores compute tiles. Every element is summed up in f32 in
 * the order of k, one product after the other, without fused multiply-add, whatever the tiling and
 * the vector level. Operands are converted to f32 where they are packed. */
#ifndef BACKEND_KERNELS_PRODUCT_H
#define BACKEND_KERNELS_PRODUCT_H

#define PRODUCT_WORD float
#include "backend/kernels/nz.h"
#include "backend/kernels/product_tile.h"
#include "backend/kernels/turn.h"

/* A matrix as seen by the product, after transposition. */
struct product_view {
    const void *data;
    const struct skrt_tensor *tensor;
    bool nz, transposed;
    int64_t rows, columns;               /* logical */
    int64_t stored_rows, stored_columns; /* as the tensor says */
    int64_t base;                        /* element that the matrix at hand begins with */
};

enum { PRODUCT_AHEAD = 8 };

/* A product of two matrices, and what is added to each row of it. */
struct product {
    struct product_view x1, x2;
    const struct skrt_tensor *bias, *result; /* bias NULL: none */
    const void *bias_data;
    void *result_data;
    int64_t bias_base, result_base; /* elements that the matrix at hand begins with */
    int64_t m, k, n;
    struct product_blocks blocks; /* set by product_cut */
};

/* A view of the last two dimensions of a tensor. */
static inline void product_view_open(struct product_view *view, const struct skrt_tensor *tensor,
                                     const void *data, bool transposed)
{
    *view = (struct product_view){.data = data,
                                  .tensor = tensor,
                                  .nz = tensor->format == SKRT_FRACTAL_NZ,
                                  .transposed = transposed,
                                  .stored_rows = tensor->dims[tensor->rank - 2],
                                  .stored_columns = tensor->dims[tensor->rank - 1]};
    view->rows = transposed ? view->stored_columns : view->stored_rows;
    view->columns = transposed ? view->stored_rows : view->stored_columns;
}

/* Has what stands there come to the cache; it need not exist. */
static inline void product_prefetch(const void *data, int64_t offset, int64_t bytes)
{
    enum { LINE = 64 };
    for (int64_t at = 0; at < bytes; at += LINE)
        __builtin_prefetch((const void *)((uintptr_t)data + (uintptr_t)(offset + at)));
}

/* Loads `n` elements along a row as the matrix is stored, those of one level. Rows are loaded one
 * behind the other, which is no pattern that the machine would see: it is told of what comes
 * PRODUCT_AHEAD rows on. */
typedef void product_load(const struct product_view *view, float *to, int64_t row, int64_t column,
                          int64_t n);

static inline void product_load_by(const struct product_view *view, float *to, int64_t row,
                                   int64_t column, int64_t n)
{
    int64_t size = kernel_dtype_size(view->tensor->dtype);
    for (int64_t done = 0, run; done < n; done += run) {
        int64_t at = view->base + row * view->stored_columns + column;
        run = n;
        if (!view->nz) {
            product_prefetch(view->data, (at + PRODUCT_AHEAD * view->stored_columns) * size,
                             n * size);
        } else {
            at = nz_offset(view->stored_rows, size, row, column + done);
            run = nz_group_columns(size) - (column + done) % nz_group_columns(size);
        }
        run = kernel_min(run, n - done);
        kernel_load_f32(to + done, view->data, view->tensor->dtype, at, run);
    }
}

/* What is stored in up to TURN_ROWS rows, turned: element i of these rows stands at to[i * pitch].
 * What is behind the last row is 0, what is behind the elements not defined. */
static inline void product_load_turned(const struct product_view *view, product_load *load,
                                       float *to, int64_t pitch, struct kernel_range rows,
                                       int64_t column, int64_t n)
{
    float stored[TURN_ROWS][TURN_MOST] __attribute__((aligned(64)));
    for (int64_t i = 0; i < TURN_ROWS; i++) {
        if (rows.begin + i < rows.end)
            load(view, stored[i], rows.begin + i, column, n);
        else
            memset(stored[i], 0, sizeof stored[i]);
    }
    turn_rows(to, pitch, (const float(*)[TURN_MOST])stored, n);
}

/* The rows of a tile for `depth` steps from k0 on, and what makes the last strip whole: 0. */
static inline void product_pack_x1(const struct product *op, product_load *load,
                                   struct product_tile *tile, int64_t k0, int64_t depth,
                                   int64_t high)
{
    const struct product_view *x1 = &op->x1;
    for (int64_t i = 0; !x1->transposed && i < tile->part.rows; i++)
        load(x1, tile->x1[i], tile->part.row + i, k0, depth);
    for (int64_t k = 0; x1->transposed && k < depth; k += TURN_ROWS)
        product_load_turned(x1, load, &tile->x1[0][k], PRODUCT_PITCH,
                            (struct kernel_range){k0 + k, k0 + depth}, tile->part.row,
                            tile->part.rows);
    for (int64_t i = tile->part.rows; i % high != 0; i++)
        memset(tile->x1[i], 0, sizeof tile->x1[i]);
}

/* The columns of a tile likewise. */
static inline void product_pack_x2(const struct product *op, product_load *load,
                                   struct product_tile *tile, int64_t k0, int64_t depth,
                                   int64_t wide)
{
    const struct product_view *x2 = &op->x2;
    for (int64_t j = 0; x2->transposed && j < tile->part.columns; j += TURN_ROWS)
        product_load_turned(
            x2, load, tile->x2 + j / wide * wide * depth + j % wide, wide,
            (struct kernel_range){tile->part.column + j, tile->part.column + tile->part.columns},
            k0, depth);
    float row[PRODUCT_COLUMNS] __attribute__((aligned(64))) = {0};
    for (int64_t k = 0; !x2->transposed && k < depth; k++) {
        load(x2, row, k0 + k, tile->part.column, tile->part.columns);
        for (int64_t j = 0; j < tile->part.columns; j += wide)
            memcpy(tile->x2 + j * depth + k * wide, row + j, (size_t)wide * sizeof *row);
    }
}

static inline void product_add_bias(const struct product *op, struct product_tile *tile)
{
    float added[PRODUCT_COLUMNS];
    kernel_load_f32(added, op->bias_data, op->bias->dtype, op->bias_base + tile->part.column,
                    tile->part.columns);
    for (int64_t i = 0; i < tile->part.rows; i++)
        for (int64_t j = 0; j < tile->part.columns; j++)
            tile->sums[i][j] += added[j];
}

/* The number of the result's tiles, which so many blocks share. */
static inline int64_t product_cut(struct product *op, int64_t blocks)
{
    op->blocks = product_blocks(op->m, op->n, blocks);
    return product_blocks_tiles(&op->blocks);
}

/* A tile of the matrix at hand. */
static inline void product_compute_by(const struct product *op, int64_t index, bool biased,
                                      product_load *load, struct product_strips by)
{
    struct product_tile tile;
    tile.part = product_blocks_part(&op->blocks, index);
    memset(tile.sums, 0, (size_t)tile.part.rows * sizeof tile.sums[0]);
    for (int64_t k0 = 0; k0 < op->k; k0 += PRODUCT_DEPTH) {
        int64_t depth = kernel_min(PRODUCT_DEPTH, op->k - k0);
        product_pack_x1(op, load, &tile, k0, depth, by.high);
        product_pack_x2(op, load, &tile, k0, depth, by.wide);
        product_tile_strips(&tile, depth, by);
    }
    if (biased && op->bias != NULL)
        product_add_bias(op, &tile);
    for (int64_t i = 0; i < tile.part.rows; i++)
        kernel_store_f32(op->result_data, op->result->dtype,
                         op->result_base + (tile.part.row + i) * op->n + tile.part.column,
                         tile.sums[i], tile.part.columns);
}

#define PRODUCT_STEP(sums, word, vector) (sums) += (word) * (vector)

/* A level's functions, whose strips have so many rows and vectors of so many bytes. */
#define PRODUCT_LEVEL(level, attribute, bytes, rows, vectors)                                      \
    PRODUCT_STRIPS(level, attribute, bytes, rows, vectors, PRODUCT_STEP)                           \
    attribute static void product_load_##level(const struct product_view *view, float *to,         \
                                               int64_t row, int64_t column, int64_t n)             \
    {                                                                                              \
        product_load_by(view, to, row, column, n);                                                 \
    }                                                                                              \
    attribute static void product_compute_##level(const struct product *op, int64_t index,         \
                                                  bool biased)                                     \
    {                                                                                              \
        product_compute_by(op, index, biased, product_load_##level, product_strips_##level);       \
    }

#ifdef VECTORS_X86_64
PRODUCT_LEVEL(base, VECTORS_BASE, 16, 4, 2)
PRODUCT_LEVEL(avx2, VECTORS_AVX2, 32, 4, 2)
PRODUCT_LEVEL(avx512, VECTORS_AVX512, 64, 16, 1)
#else
PRODUCT_LEVEL(base, VECTORS_BASE, 16, 8, 2)
#endif

/* Computes a tile of the matrix at hand; `biased`: there may be a bias. */
static inline void product_compute(const struct product *op, int64_t index, bool biased)
{
    VECTORS_CALL(product_compute, op, index, biased);
}

#endif
