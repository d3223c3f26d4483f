/* The product of two matrices of i8, of which cores compute tiles: exact sums in 32 bits, which
 * wrap.
 *
 * A word of a tile is as many steps of k as the machine multiplies and adds in one lane: four bytes
 * (AVX-512 VNNI), a pair of 16 bits (pmaddwd of x86), else one number. VNNI multiplies signed bytes
 * by unsigned ones: x2 is packed with 128 added, and 128 times the sum of a row of x1 taken off.
 */
#ifndef BACKEND_KERNELS_PRODUCT_I8_H
#define BACKEND_KERNELS_PRODUCT_I8_H

#define PRODUCT_WORD uint32_t
#include "backend/kernels/nz.h"
#include "backend/kernels/product_tile.h"

#ifdef VECTORS_X86_64
#include <immintrin.h>
#endif

/* x1 is [m, k]; x2 is [k, n], row-major or in FRACTAL_NZ. */
struct product_i8 {
    const int8_t *x1, *x2;
    bool nz;
    int64_t m, k, n;
    struct product_blocks blocks; /* set by product_i8_cut */
};

/* The number of the result's tiles, which so many blocks share. */
static inline int64_t product_i8_cut(struct product_i8 *op, int64_t blocks)
{
    op->blocks = product_blocks(op->m, op->n, blocks);
    return product_blocks_tiles(&op->blocks);
}

/* ------------------------------------------------------------------------- packing ---- */

/* Where a level's words differ. */
enum product_i8_words { PRODUCT_I8_SINGLE = 1, PRODUCT_I8_PAIRS = 2, PRODUCT_I8_BYTES = 4 };

/* A row of x1, `n` steps of it, and zeros to the end of the last word. */
static inline void product_i8_pack_row(uint32_t *to, const int8_t *from, int64_t n,
                                       enum product_i8_words words)
{
    int8_t padded[PRODUCT_DEPTH * PRODUCT_I8_BYTES];
    int16_t wide[PRODUCT_DEPTH * PRODUCT_I8_PAIRS];
    int64_t each = words, whole = (n + each - 1) / each;
    memcpy(padded, from, (size_t)n);
    memset(padded + n, 0, (size_t)(whole * each - n));
    for (int64_t i = 0; words == PRODUCT_I8_SINGLE && i < whole; i++)
        to[i] = (uint32_t)padded[i];
    for (int64_t i = 0; words == PRODUCT_I8_PAIRS && i < 2 * whole; i++)
        wide[i] = padded[i];
    if (words == PRODUCT_I8_PAIRS)
        memcpy(to, wide, (size_t)whole * sizeof *to);
    else if (words == PRODUCT_I8_BYTES)
        memcpy(to, padded, (size_t)whole * sizeof *to);
}

static inline uint32_t product_i8_row_sum(const int8_t *row, int64_t n)
{
    int32_t sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += row[i];
    return (uint32_t)sum;
}

/* The rows of a tile. `taken` is what is to be taken off the sums of each. */
static inline void product_i8_pack_x1(const struct product_i8 *op, struct product_tile *tile,
                                      struct kernel_range k, int64_t high, uint32_t *taken,
                                      enum product_i8_words words)
{
    for (int64_t i = 0; i < tile->part.rows; i++) {
        const int8_t *from = op->x1 + (tile->part.row + i) * op->k + k.begin;
        product_i8_pack_row(tile->x1[i], from, k.end - k.begin, words);
        if (words == PRODUCT_I8_BYTES)
            taken[i] += 128 * product_i8_row_sum(from, k.end - k.begin);
    }
    for (int64_t i = tile->part.rows; i % high != 0; i++)
        memset(tile->x1[i], 0, sizeof tile->x1[i]);
}

/* Where row k and a column of x2 stand; up to `*n` columns follow. */
static inline const int8_t *product_i8_x2(const struct product_i8 *op, int64_t k, int64_t column,
                                          int64_t *n)
{
    if (!op->nz)
        return op->x2 + k * op->n + column;
    *n = kernel_min(*n, NZ_ROW_BYTES - column % NZ_ROW_BYTES);
    return op->x2 + nz_offset(op->k, 1, k, column);
}

/* Words of `n` columns of rows of x2 that follow one another. */
static inline void product_i8_pack_words(uint32_t *to, const int8_t *const *rows, int64_t n,
                                         enum product_i8_words words)
{
    const int8_t *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];
    if (words == PRODUCT_I8_SINGLE)
        for (int64_t j = 0; j < n; j++)
            to[j] = (uint32_t)a[j];
    if (words == PRODUCT_I8_PAIRS)
        for (int64_t j = 0; j < n; j++)
            to[j] = ((uint32_t)a[j] & 0xffffu) | (uint32_t)b[j] << 16;
    if (words == PRODUCT_I8_BYTES)
        for (int64_t j = 0; j < n; j++)
            to[j] = ((uint32_t)(uint8_t)a[j] | (uint32_t)(uint8_t)b[j] << 8 |
                     (uint32_t)(uint8_t)c[j] << 16 | (uint32_t)(uint8_t)d[j] << 24) ^
                    0x80808080u;
}

/* The columns of a tile. What is behind the last k is multiplied by zeros: any row stands for it.
 */
static inline void product_i8_pack_x2(const struct product_i8 *op, struct product_tile *tile,
                                      struct kernel_range k, int64_t wide,
                                      enum product_i8_words words)
{
    int64_t each = words, depth = (k.end - k.begin + each - 1) / each;
    for (int64_t step = 0; step < depth; step++)
        for (int64_t j = 0, n; j < tile->part.columns; j += n) {
            const int8_t *rows[PRODUCT_I8_BYTES];
            n = kernel_min(wide - j % wide, tile->part.columns - j);
            for (int64_t i = 0; i < PRODUCT_I8_BYTES; i++)
                rows[i] = product_i8_x2(op, kernel_min(k.begin + step * each + i, k.end - 1),
                                        tile->part.column + j, &n);
            product_i8_pack_words(tile->x2 + (j - j % wide) * depth + step * wide + j % wide, rows,
                                  n, words);
        }
}

/* -------------------------------------------------------------------------- levels ---- */

/* Computes a tile into `to`, a matrix [m, n]. */
static inline void product_i8_compute_by(const struct product_i8 *op, int64_t index, uint32_t *to,
                                         struct product_strips by, enum product_i8_words words)
{
    struct product_tile tile;
    uint32_t taken[PRODUCT_ROWS] = {0};
    tile.part = product_blocks_part(&op->blocks, index);
    memset(tile.sums, 0, (size_t)tile.part.rows * sizeof tile.sums[0]);
    for (int64_t k0 = 0; k0 < op->k; k0 += (int64_t)PRODUCT_DEPTH * words) {
        struct kernel_range k = {k0, kernel_min(op->k, k0 + (int64_t)PRODUCT_DEPTH * words)};
        product_i8_pack_x1(op, &tile, k, by.high, taken, words);
        product_i8_pack_x2(op, &tile, k, by.wide, words);
        product_tile_strips(&tile, (k.end - k.begin + words - 1) / words, by);
    }
    for (int64_t i = 0; i < tile.part.rows; i++)
        for (int64_t j = 0; j < tile.part.columns; j++)
            to[(tile.part.row + i) * op->n + tile.part.column + j] = tile.sums[i][j] - taken[i];
}

#define PRODUCT_I8_STEP(sums, word, vector) (sums) += (word) * (vector)
#define PRODUCT_I8_STEP_PAIRS(bits, prefix, sums, word, vector)                                    \
    (sums) += (__typeof__(sums))prefix##_madd_epi16(prefix##_set1_epi32((int)(word)),              \
                                                    (__m##bits##i)(vector))
#define PRODUCT_I8_STEP_128(sums, word, vector) PRODUCT_I8_STEP_PAIRS(128, _mm, sums, word, vector)
#define PRODUCT_I8_STEP_256(sums, word, vector)                                                    \
    PRODUCT_I8_STEP_PAIRS(256, _mm256, sums, word, vector)
#define PRODUCT_I8_STEP_512(sums, word, vector)                                                    \
    PRODUCT_I8_STEP_PAIRS(512, _mm512, sums, word, vector)
#define PRODUCT_I8_STEP_BYTES(sums, word, vector)                                                  \
    (sums) = (__typeof__(sums))_mm512_dpbusd_epi32((__m512i)(sums), (__m512i)(vector),             \
                                                   _mm512_set1_epi32((int)(word)))

#define PRODUCT_I8_LEVEL(level, attribute, bytes, rows, vectors, step, words)                      \
    PRODUCT_STRIPS(level, attribute, bytes, rows, vectors, step)                                   \
    attribute static void product_i8_compute_##level(const struct product_i8 *op, int64_t index,   \
                                                     uint32_t *to)                                 \
    {                                                                                              \
        product_i8_compute_by(op, index, to, product_strips_##level, words);                       \
    }

#ifdef VECTORS_X86_64
PRODUCT_I8_LEVEL(base, VECTORS_BASE, 16, 4, 2, PRODUCT_I8_STEP_128, PRODUCT_I8_PAIRS)
PRODUCT_I8_LEVEL(avx2, VECTORS_AVX2, 32, 4, 2, PRODUCT_I8_STEP_256, PRODUCT_I8_PAIRS)
PRODUCT_I8_LEVEL(avx512, VECTORS_AVX512, 64, 8, 2, PRODUCT_I8_STEP_512, PRODUCT_I8_PAIRS)
PRODUCT_I8_LEVEL(vnni, VECTORS_VNNI, 64, 8, 2, PRODUCT_I8_STEP_BYTES, PRODUCT_I8_BYTES)
#else
PRODUCT_I8_LEVEL(base, VECTORS_BASE, 16, 8, 2, PRODUCT_I8_STEP, PRODUCT_I8_SINGLE)
#endif

static inline void product_i8_compute(const struct product_i8 *op, int64_t index, uint32_t *to)
{
#ifdef VECTORS_X86_64
    switch (skrt_vector_level()) {
    case SKRT_VECTORS_VNNI: return product_i8_compute_vnni(op, index, to);
    case SKRT_VECTORS_AVX512: return product_i8_compute_avx512(op, index, to);
    case SKRT_VECTORS_AVX2: return product_i8_compute_avx2(op, index, to);
    default: break;
    }
#endif
    product_i8_compute_base(op, index, to);
}

#endif
