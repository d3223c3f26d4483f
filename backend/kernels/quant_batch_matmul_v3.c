/* QuantBatchMatmulV3: y[m, n] = (x1[m, k] * x2[k, n] + bias[n]) * scale[n] * pertoken_scale[m],
 * without the bias or the last scale where they are absent.
 *
 * The cube part computes 32-bit integer products into the workspace, an i32 matrix [m, n], tile by
 * tile; its vector cores dequantise each tile as it comes. Sums wrap at 32 bits, which takes
 * k > 131071. The product with `scale` comes first, in f32, and the result is rounded once.
 *
 * Speed comes from x86's pmaddwd (two 16-bit products and their sum per 32-bit lane), which the
 * compilers take for dot products of int16_t; aarch64 has smlal. So both operands are widened and
 * packed with k innermost.
 */
#include "backend/kernels/kernel.h"
#include "backend/kernels/nz.h"

/* A tile is QBMM_ROWS x QBMM_COLUMNS of the result. For QBMM_DEPTH steps of k at a time, the
 * columns of x2 are packed whole (32 KiB) and the rows of x1 in strips of STRIP_ROWS; the inner
 * loop makes STRIP_ROWS x STRIP_COLUMNS sums. QBMM_GROUP columns are copied together: a column
 * group of FRACTAL_NZ. QBMM_AHEAD bounds the tiles that the cube part is ahead of the vector
 * part, below the flags' limit of 15. */
enum {
    QBMM_ROWS = 128,
    QBMM_COLUMNS = 64,
    QBMM_DEPTH = 256,
    QBMM_GROUP = NZ_ROW_BYTES,
    QBMM_STEP = 8,
    STRIP_ROWS = 4,
    STRIP_COLUMNS = 2,
    QBMM_AHEAD = 8
};

enum { QBMM_X1, QBMM_X2, QBMM_SCALE, QBMM_OFFSET, QBMM_BIAS, QBMM_PERTOKEN, QBMM_Y, QBMM_TENSORS };

struct qbmm {
    struct kernel kernel;
    int32_t *workspace;
    int64_t m, k, n;
};

/* The tiles of one AI core are first, first + step, ... below end, columns outermost. */
struct qbmm_tiles {
    int64_t first, step, end;
};

struct qbmm_tile {
    int64_t row, column, rows, columns;
};

struct qbmm_panels {
    int16_t x1[STRIP_ROWS][QBMM_DEPTH] __attribute__((aligned(16)));
    int16_t x2[QBMM_COLUMNS][QBMM_DEPTH] __attribute__((aligned(16)));
};

static bool qbmm_is_optional(const struct qbmm *op, unsigned tensor, uint32_t dtype, int64_t length)
{
    const struct skrt_tensor *found = &op->kernel.tensors[tensor];
    return found->form == SKRT_ABSENT || kernel_is_vector(found, dtype, length);
}

static bool qbmm_open(struct qbmm *op, const skrt_core *core, uint64_t args_offset)
{
    if (!kernel_open(&op->kernel, core, args_offset, QBMM_TENSORS, true))
        return false;
    op->workspace = kernel_slot(&op->kernel, QBMM_TENSORS);
    const struct skrt_tensor *x1 = &op->kernel.tensors[QBMM_X1];
    const struct skrt_tensor *x2 = &op->kernel.tensors[QBMM_X2];
    const struct skrt_tensor *y = &op->kernel.tensors[QBMM_Y];
    if (x1->rank != 2 || x2->rank != 2 || y->rank != 2 || x1->dtype != SKRT_i8 ||
        x2->dtype != SKRT_i8)
        return false;
    op->m = x1->dims[0];
    op->k = x1->dims[1];
    op->n = x2->dims[1];
    return x2->dims[0] == op->k && y->dims[0] == op->m && y->dims[1] == op->n &&
           kernel_is_vector(&op->kernel.tensors[QBMM_SCALE], SKRT_f32, op->n) &&
           op->kernel.tensors[QBMM_OFFSET].form == SKRT_ABSENT &&
           qbmm_is_optional(op, QBMM_BIAS, SKRT_i32, op->n) &&
           qbmm_is_optional(op, QBMM_PERTOKEN, SKRT_f32, op->m);
}

static int64_t qbmm_tiles_down(const struct qbmm *op)
{
    return (op->m + QBMM_ROWS - 1) / QBMM_ROWS;
}

static struct qbmm_tiles qbmm_tiles_of(const struct qbmm *op, const skrt_core *core)
{
    int64_t across = (op->n + QBMM_COLUMNS - 1) / QBMM_COLUMNS;
    return (struct qbmm_tiles){skrt_block_idx(core), skrt_block_num(core),
                               qbmm_tiles_down(op) * across};
}

static struct qbmm_tile qbmm_tile_at(const struct qbmm *op, int64_t index)
{
    struct qbmm_tile tile = {.row = index % qbmm_tiles_down(op) * QBMM_ROWS,
                             .column = index / qbmm_tiles_down(op) * QBMM_COLUMNS};
    tile.rows = kernel_min(QBMM_ROWS, op->m - tile.row);
    tile.columns = kernel_min(QBMM_COLUMNS, op->n - tile.column);
    return tile;
}

/* ------------------------------------------------------------------------ cube part ---- */

/* Transposes `columns` of x2 into the panel, from row k0 on: `src` is the group's element (k0, 0).
 * Blocks of rows keep the reads in few cache lines. The panel's rows are zero up to `padded`. */
static void qbmm_pack_group(int16_t (*panel)[QBMM_DEPTH], const int8_t *src, int64_t stride,
                            int64_t columns, int64_t depth, int64_t padded)
{
    for (int64_t k = 0; k < padded; k += QBMM_STEP) {
        int64_t rows = kernel_min(QBMM_STEP, depth - k);
        for (int64_t column = 0; column < columns; column++) {
            for (int64_t i = 0; i < rows; i++)
                panel[column][k + i] = src[(k + i) * stride + column];
            for (int64_t i = rows; i < QBMM_STEP; i++)
                panel[column][k + i] = 0;
        }
    }
}

static void qbmm_pack_x2(const struct qbmm *op, struct qbmm_panels *panels,
                         const struct qbmm_tile *tile, int64_t k0, int64_t depth, int64_t padded)
{
    const int8_t *x2 = kernel_slot(&op->kernel, QBMM_X2);
    bool nz = op->kernel.tensors[QBMM_X2].format == SKRT_FRACTAL_NZ;
    int64_t stride = nz ? QBMM_GROUP : op->n;
    for (int64_t j = 0; j < tile->columns; j += QBMM_GROUP) {
        int64_t column = tile->column + j;
        int64_t at = nz ? nz_offset(op->k, 1, k0, column) : k0 * op->n + column;
        qbmm_pack_group(&panels->x2[j], x2 + at, stride, kernel_min(QBMM_GROUP, tile->columns - j),
                        depth, padded);
    }
    if (tile->columns % STRIP_COLUMNS != 0)
        memset(panels->x2[tile->columns], 0, sizeof panels->x2[0]);
}

static void qbmm_pack_x1(const struct qbmm *op, struct qbmm_panels *panels, int64_t row,
                         int64_t rows, int64_t k0, int64_t depth, int64_t padded)
{
    const int8_t *x1 = (const int8_t *)kernel_slot(&op->kernel, QBMM_X1) + row * op->k + k0;
    for (int64_t i = 0; i < STRIP_ROWS; i++) {
        int64_t n = i < rows ? depth : 0;
        for (int64_t k = 0; k < n; k++)
            panels->x1[i][k] = x1[i * op->k + k];
        for (int64_t k = n; k < padded; k++)
            panels->x1[i][k] = 0;
    }
}

/* Eight dot products at once, enough for the registers; QBMM_DEPTH products of 2^14 cannot
 * overflow. The steps are counted so that the compiler need not make a remainder loop. */
static void qbmm_dot(int32_t sums[STRIP_ROWS][STRIP_COLUMNS], const int16_t (*a)[QBMM_DEPTH],
                     const int16_t (*b)[QBMM_DEPTH], int64_t padded)
{
    int32_t s00 = 0, s01 = 0, s10 = 0, s11 = 0, s20 = 0, s21 = 0, s30 = 0, s31 = 0;
    const int16_t *a0 = __builtin_assume_aligned(a[0], 16);
    const int16_t *a1 = __builtin_assume_aligned(a[1], 16);
    const int16_t *a2 = __builtin_assume_aligned(a[2], 16);
    const int16_t *a3 = __builtin_assume_aligned(a[3], 16);
    const int16_t *b0 = __builtin_assume_aligned(b[0], 16);
    const int16_t *b1 = __builtin_assume_aligned(b[1], 16);
    int64_t steps = padded / QBMM_STEP * QBMM_STEP;
    for (int64_t k = 0; k < steps; k++) {
        s00 += a0[k] * b0[k];
        s01 += a0[k] * b1[k];
        s10 += a1[k] * b0[k];
        s11 += a1[k] * b1[k];
        s20 += a2[k] * b0[k];
        s21 += a2[k] * b1[k];
        s30 += a3[k] * b0[k];
        s31 += a3[k] * b1[k];
    }
    int32_t all[STRIP_ROWS][STRIP_COLUMNS] = {{s00, s01}, {s10, s11}, {s20, s21}, {s30, s31}};
    memcpy(sums, all, sizeof all);
}

/* Adds the sums that lie inside the matrix to the workspace, with wrapping. */
static void qbmm_add(const struct qbmm *op, int64_t row, int64_t column, int64_t rows,
                     int64_t columns, int32_t sums[STRIP_ROWS][STRIP_COLUMNS])
{
    for (int64_t i = 0; i < rows && i < STRIP_ROWS; i++)
        for (int64_t j = 0; j < columns && j < STRIP_COLUMNS; j++) {
            int32_t *to = &op->workspace[(row + i) * op->n + column + j];
            *to = (int32_t)((uint32_t)*to + (uint32_t)sums[i][j]);
        }
}

static void qbmm_multiply(const struct qbmm *op, const struct qbmm_tile *tile)
{
    struct qbmm_panels panels;
    for (int64_t i = 0; i < tile->rows; i++)
        memset(&op->workspace[(tile->row + i) * op->n + tile->column], 0,
               (size_t)tile->columns * sizeof op->workspace[0]);
    for (int64_t k0 = 0; k0 < op->k; k0 += QBMM_DEPTH) {
        int64_t depth = kernel_min(QBMM_DEPTH, op->k - k0);
        int64_t padded = (depth + QBMM_STEP - 1) / QBMM_STEP * QBMM_STEP;
        qbmm_pack_x2(op, &panels, tile, k0, depth, padded);
        for (int64_t i = 0; i < tile->rows; i += STRIP_ROWS) {
            qbmm_pack_x1(op, &panels, tile->row + i, tile->rows - i, k0, depth, padded);
            for (int64_t j = 0; j < tile->columns; j += STRIP_COLUMNS) {
                int32_t sums[STRIP_ROWS][STRIP_COLUMNS];
                qbmm_dot(sums, (const int16_t(*)[QBMM_DEPTH])panels.x1,
                         (const int16_t(*)[QBMM_DEPTH]) & panels.x2[j], padded);
                qbmm_add(op, tile->row + i, tile->column + j, tile->rows - i, tile->columns - j,
                         sums);
            }
        }
    }
}

skrt_kernel_fn quant_batch_matmul_v3_mix_aic;

void quant_batch_matmul_v3_mix_aic(skrt_core *core, uint64_t args_offset)
{
    struct qbmm op;
    if (!qbmm_open(&op, core, args_offset))
        return;
    struct qbmm_tiles tiles = qbmm_tiles_of(&op, core);
    int64_t done = 0;
    for (int64_t index = tiles.first; index < tiles.end; index += tiles.step) {
        if (done++ >= QBMM_AHEAD)
            skrt_kernel_wait_v2c(core);
        struct qbmm_tile tile = qbmm_tile_at(&op, index);
        qbmm_multiply(&op, &tile);
        skrt_kernel_set_c2v(core);
    }
}

/* ---------------------------------------------------------------------- vector part ---- */

static void qbmm_dequantise(const struct qbmm *op, int64_t row, int64_t column, int64_t n)
{
    const int32_t *sums = &op->workspace[row * op->n + column];
    const float *scale = (const float *)kernel_slot(&op->kernel, QBMM_SCALE) + column;
    const int32_t *bias = kernel_slot(&op->kernel, QBMM_BIAS);
    const float *pertoken = kernel_slot(&op->kernel, QBMM_PERTOKEN);
    float y[QBMM_COLUMNS];
    for (int64_t i = 0; i < n; i++) {
        uint32_t sum = (uint32_t)sums[i] + (bias ? (uint32_t)bias[column + i] : 0);
        y[i] = (float)(int32_t)sum * scale[i] * (pertoken ? pertoken[row] : 1);
    }
    kernel_store_f32(kernel_slot(&op->kernel, QBMM_Y), op->kernel.tensors[QBMM_Y].dtype,
                     row * op->n + column, y, n);
}

skrt_kernel_fn quant_batch_matmul_v3_mix_aiv;

/* The AIVs of an AI core share the rows of its tiles. */
void quant_batch_matmul_v3_mix_aiv(skrt_core *core, uint64_t args_offset)
{
    struct qbmm op;
    if (!qbmm_open(&op, core, args_offset))
        return;
    struct qbmm_tiles tiles = qbmm_tiles_of(&op, core);
    for (int64_t index = tiles.first; index < tiles.end; index += tiles.step) {
        struct qbmm_tile tile = qbmm_tile_at(&op, index);
        struct kernel_range rows =
            kernel_split(tile.rows, skrt_sub_block_idx(core), skrt_sub_block_num(core));
        skrt_kernel_wait_c2v(core);
        for (int64_t i = rows.begin; i < rows.end; i++)
            qbmm_dequantise(&op, tile.row + i, tile.column, tile.columns);
        /* Only the releases that the cube part waits for: none may be left at the end. */
        if (index + QBMM_AHEAD * tiles.step < tiles.end)
            skrt_kernel_set_v2c(core);
    }
}
