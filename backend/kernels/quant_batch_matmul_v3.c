/* QuantBatchMatmulV3: y[m, n] = (x1[m, k] * x2[k, n] + bias[n]) * scale[n] * pertoken_scale[m],
 * without the bias or the last scale where they are absent.
 *
 * The cube part computes 32-bit integer products into the workspace, an i32 matrix [m, n], tile by
 * tile; its vector cores dequantise each tile as it comes. Sums wrap at 32 bits, which takes
 * k > 131071. The product with `scale` comes first, in f32, and the result is rounded once.
 */
#include "backend/kernels/product_i8.h"

/* The tiles that the cube part is ahead of the vector part at most, below the flags' limit of 15.
 */
enum { QBMM_AHEAD = 8 };

enum { QBMM_X1, QBMM_X2, QBMM_SCALE, QBMM_OFFSET, QBMM_BIAS, QBMM_PERTOKEN, QBMM_Y, QBMM_TENSORS };

struct qbmm {
    struct kernel kernel;
    uint32_t *workspace;
    struct product_i8 product;
};

/* The tiles of one AI core are first, first + step, ... below end, columns outermost. */
struct qbmm_tiles {
    int64_t first, step, end;
};

static bool qbmm_open(struct qbmm *op, const skrt_core *core, uint64_t args_offset)
{
    if (!kernel_open(&op->kernel, core, args_offset, QBMM_TENSORS, true))
        return false;
    op->workspace = kernel_slot(&op->kernel, QBMM_TENSORS);
    const struct skrt_tensor *x1 = &op->kernel.tensors[QBMM_X1];
    const struct skrt_tensor *x2 = &op->kernel.tensors[QBMM_X2];
    op->product = (struct product_i8){.x1 = kernel_slot(&op->kernel, QBMM_X1),
                                      .x2 = kernel_slot(&op->kernel, QBMM_X2),
                                      .nz = x2->format == SKRT_FRACTAL_NZ,
                                      .m = x1->dims[0],
                                      .k = x1->dims[1],
                                      .n = x2->dims[1]};
    return true;
}

static struct qbmm_tiles qbmm_tiles_of(struct qbmm *op, const skrt_core *core)
{
    int64_t blocks = skrt_block_num(core);
    return (struct qbmm_tiles){skrt_block_idx(core), blocks, product_i8_cut(&op->product, blocks)};
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
        product_i8_compute(&op.product, index, op.workspace);
        skrt_kernel_set_c2v(core);
    }
}

/* ---------------------------------------------------------------------- vector part ---- */

/* A part of a row of the result. */
static inline void qbmm_dequantise(const struct qbmm *op, int64_t row, int64_t column, int64_t n)
{
    int64_t at = row * op->product.n + column;
    const uint32_t *sums = op->workspace + at, *bias = kernel_slot(&op->kernel, QBMM_BIAS);
    const float *scale = (const float *)kernel_slot(&op->kernel, QBMM_SCALE) + column;
    const float *rows = kernel_slot(&op->kernel, QBMM_PERTOKEN);
    float y[PRODUCT_COLUMNS], pertoken = rows != NULL ? rows[row] : 1;
    for (int64_t i = 0; bias != NULL && i < n; i++)
        y[i] = (float)(int32_t)(sums[i] + bias[column + i]) * scale[i] * pertoken;
    for (int64_t i = 0; bias == NULL && i < n; i++)
        y[i] = (float)(int32_t)sums[i] * scale[i] * pertoken;
    kernel_store_f32(kernel_slot(&op->kernel, QBMM_Y), op->kernel.tensors[QBMM_Y].dtype, at, y, n);
}

/* The part of a tile's rows that belongs to an AIV. */
static inline void qbmm_finish_by(const struct qbmm *op, int64_t index, uint32_t part,
                                  uint32_t parts)
{
    struct product_part tile = product_blocks_part(&op->product.blocks, index);
    struct kernel_range rows = kernel_split(tile.rows, part, parts);
    for (int64_t i = rows.begin; i < rows.end; i++)
        qbmm_dequantise(op, tile.row + i, tile.column, tile.columns);
}

VECTORS_OF(qbmm_finish, (const struct qbmm *op, int64_t index, uint32_t part, uint32_t parts),
           (op, index, part, parts))

skrt_kernel_fn quant_batch_matmul_v3_mix_aiv;

/* The AIVs of an AI core share the rows of its tiles. */
void quant_batch_matmul_v3_mix_aiv(skrt_core *core, uint64_t args_offset)
{
    struct qbmm op;
    if (!qbmm_open(&op, core, args_offset))
        return;
    struct qbmm_tiles tiles = qbmm_tiles_of(&op, core);
    for (int64_t index = tiles.first; index < tiles.end; index += tiles.step) {
        skrt_kernel_wait_c2v(core);
        qbmm_finish(&op, index, skrt_sub_block_idx(core), skrt_sub_block_num(core));
        /* Only the releases that the cube part waits for: none may be left at the end. */
        if (index + QBMM_AHEAD * tiles.step < tiles.end)
            skrt_kernel_set_v2c(core);
    }
}
