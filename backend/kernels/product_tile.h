/* The blocks that a product of matrices is computed in, and the loop inside: sums of words, each of
 * which is as much of both operands as is multiplied in one step.
 *
 * A result is cut into tiles, and a tile is computed for PRODUCT_DEPTH steps at a time: its rows of
 * x1 are packed, one behind the other, and its columns of x2 in strips, each with the steps
 * outermost. A strip stays in the first-level cache while all rows are multiplied by it. Inside, as
 * many sums as the machine has registers for are kept there for all of these steps.
 * Every sum is made in the order of the steps, so that it does not depend on the blocks. */
#ifndef BACKEND_KERNELS_PRODUCT_TILE_H
#define BACKEND_KERNELS_PRODUCT_TILE_H

#include "backend/kernels/kernel.h"
#include "backend/kernels/vectors.h"

/* All of a tile is on the stack of a core: 168 KiB. The rows of x1 are PRODUCT_PITCH apart, so that
 * those of a strip are in different sets of the cache. */
enum {
    PRODUCT_ROWS = 128,
    PRODUCT_COLUMNS = 128,
    PRODUCT_DEPTH = 96,
    PRODUCT_PITCH = PRODUCT_DEPTH + 16,
    PRODUCT_LEAST = 32 /* rows or columns of a tile that is not cut further */
};

/* A part of the result: where it begins, and how large it is. */
struct product_part {
    int64_t row, column, rows, columns;
};

/* What is computed of it with words of a source's type PRODUCT_WORD. */
struct product_tile {
    struct product_part part;
    PRODUCT_WORD sums[PRODUCT_ROWS][PRODUCT_COLUMNS] __attribute__((aligned(64)));
    PRODUCT_WORD x1[PRODUCT_ROWS][PRODUCT_PITCH] __attribute__((aligned(64)));
    PRODUCT_WORD x2[PRODUCT_DEPTH * PRODUCT_COLUMNS] __attribute__((aligned(64)));
};

/* Rows and columns that a tile has at most. */
struct product_blocks {
    int64_t m, n, rows, columns;
};

/* Large tiles are packed less often; smaller ones are for as many blocks as there are. */
static inline struct product_blocks product_blocks(int64_t m, int64_t n, int64_t blocks)
{
    struct product_blocks to = {m, n, PRODUCT_ROWS, PRODUCT_COLUMNS};
    while (((m + to.rows - 1) / to.rows) * ((n + to.columns - 1) / to.columns) * 2 < blocks) {
        bool wide = kernel_min(to.columns, n) > kernel_min(to.rows, m);
        int64_t *longer = wide ? &to.columns : &to.rows;
        if (*longer <= PRODUCT_LEAST)
            break;
        *longer /= 2;
    }
    return to;
}

static inline int64_t product_blocks_down(const struct product_blocks *blocks)
{
    return (blocks->m + blocks->rows - 1) / blocks->rows;
}

/* The number of tiles. */
static inline int64_t product_blocks_tiles(const struct product_blocks *blocks)
{
    return product_blocks_down(blocks) * ((blocks->n + blocks->columns - 1) / blocks->columns);
}

static inline struct product_part product_blocks_part(const struct product_blocks *blocks,
                                                      int64_t index)
{
    int64_t down = product_blocks_down(blocks);
    struct product_part part = {.row = index % down * blocks->rows,
                                .column = index / down * blocks->columns};
    part.rows = kernel_min(blocks->rows, blocks->m - part.row);
    part.columns = kernel_min(blocks->columns, blocks->n - part.column);
    return part;
}

/* sums += x1 * x2 for `depth` steps, of a strip of so many rows and columns. */
typedef void product_strip(PRODUCT_WORD *sums, const PRODUCT_WORD *x1, const PRODUCT_WORD *x2,
                           int64_t depth);

/* Such a function. `step` adds to a vector of sums a word of x1 times a vector of x2. With one
 * vector each word is used once, which AVX-512 reads as a part of the multiplication; where reading
 * a word is an instruction of its own, two use it. */
#define PRODUCT_STRIP(name, attribute, vector, rows, vectors, step)                                \
    attribute static void name(PRODUCT_WORD *sums, const PRODUCT_WORD *x1, const PRODUCT_WORD *x2, \
                               int64_t depth)                                                      \
    {                                                                                              \
        enum { LANES = sizeof(vector) / sizeof(PRODUCT_WORD) };                                    \
        vector acc[rows][vectors], right[vectors];                                                 \
        for (int i = 0; i < (rows); i++)                                                           \
            for (int j = 0; j < (vectors); j++)                                                    \
                memcpy(&acc[i][j], sums + i * PRODUCT_COLUMNS + j * LANES, sizeof(vector));        \
        for (int64_t k = 0; k < depth; k++) {                                                      \
            for (int j = 0; j < (vectors); j++)                                                    \
                memcpy(&right[j], x2 + (k * (vectors) + j) * LANES, sizeof(vector));               \
            for (int i = 0; i < (rows); i++)                                                       \
                for (int j = 0; j < (vectors); j++)                                                \
                    step(acc[i][j], x1[i * PRODUCT_PITCH + k], right[j]);                          \
        }                                                                                          \
        for (int i = 0; i < (rows); i++)                                                           \
            for (int j = 0; j < (vectors); j++)                                                    \
                memcpy(sums + i * PRODUCT_COLUMNS + j * LANES, &acc[i][j], sizeof(vector));        \
    }

/* The strips of a level: as many rows as there are registers for, and few, where no more are left.
 * Rows and columns divide PRODUCT_LEAST. */
enum { PRODUCT_LOW = 4 };
struct product_strips {
    product_strip *strip, *low_strip;
    int64_t high, wide;
};
#define PRODUCT_STRIPS(level, attribute, bytes, rows, vectors, step)                               \
    typedef PRODUCT_WORD product_vector_##level __attribute__((vector_size(bytes)));               \
    PRODUCT_STRIP(product_strip_##level, attribute, product_vector_##level, rows, vectors, step)   \
    PRODUCT_STRIP(product_low_strip_##level, attribute, product_vector_##level, PRODUCT_LOW,       \
                  vectors, step)                                                                   \
    static const struct product_strips product_strips_##level = {                                  \
        product_strip_##level, product_low_strip_##level, rows,                                    \
        (vectors) * (bytes) / (int64_t)sizeof(PRODUCT_WORD)};

/* Adds the products of what is packed. */
static inline void product_tile_strips(struct product_tile *tile, int64_t depth,
                                       struct product_strips by)
{
    for (int64_t column = 0; column < tile->part.columns; column += by.wide) {
        const PRODUCT_WORD *x2 = tile->x2 + column * depth;
        int64_t row = 0;
        for (; row + PRODUCT_LOW < tile->part.rows; row += by.high)
            by.strip(&tile->sums[row][column], tile->x1[row], x2, depth);
        if (row < tile->part.rows)
            by.low_strip(&tile->sums[row][column], tile->x1[row], x2, depth);
    }
}

#endif
