/* DequantSwigluQuant: v = x * weight_scale per column * activation_scale per row, as far as they
 * are there; g = silu(one half of v) * the other half;
 * then per row scale = max|g| / 127 and y = g / scale, rounded to nearest even.
 *
 * With the attribute activate_left the first half is the activated one, else the second. A row
 * whose scale is zero gives zeros; NaN is left out of the maximum and gives 0.
 */
#include "backend/kernels/elementary.h"
#include "backend/kernels/kernel.h"

#include <math.h>

/* The operands between, up to the results, are absent. */
enum {
    SWIGLU_X,
    SWIGLU_WEIGHT_SCALE,
    SWIGLU_ACTIVATION_SCALE,
    SWIGLU_Y = 7,
    SWIGLU_SCALE,
    SWIGLU_TENSORS
};

struct swiglu {
    struct kernel kernel;
    int64_t rows, half;
    bool activate_left;
};

static bool swiglu_open(struct swiglu *op, const skrt_core *core, uint64_t args_offset)
{
    if (!kernel_open(&op->kernel, core, args_offset, SWIGLU_TENSORS, false))
        return false;
    op->rows = op->kernel.tensors[SWIGLU_Y].dims[0];
    op->half = op->kernel.tensors[SWIGLU_Y].dims[1];
    op->activate_left = kernel_flag(&op->kernel, "activate_left", false);
    return true;
}

/* Loads `n` dequantised values of a row from column `column` on. */
static void swiglu_load(const struct swiglu *op, float *v, int64_t row, int64_t column, int64_t n)
{
    const void *x = kernel_slot(&op->kernel, SWIGLU_X);
    const float *weight = kernel_slot(&op->kernel, SWIGLU_WEIGHT_SCALE);
    const float *activation = kernel_slot(&op->kernel, SWIGLU_ACTIVATION_SCALE);
    uint32_t dtype = op->kernel.tensors[SWIGLU_X].dtype;
    int64_t offset = row * 2 * op->half + column;
    if (dtype == SKRT_i32)
        for (int64_t i = 0; i < n; i++)
            v[i] = (float)((const int32_t *)x)[offset + i];
    else
        kernel_load_f32(v, x, dtype, offset, n);
    for (int64_t i = 0; weight && i < n; i++)
        v[i] *= weight[column + i];
    for (int64_t i = 0; activation && i < n; i++)
        v[i] *= activation[row];
}

/* Computes `n` values of g. Done once for the maximum and once for the result: a row has no upper
 * bound that a core could keep. */
static void swiglu_gate(const struct swiglu *op, float *g, int64_t row, int64_t column, int64_t n)
{
    float activated[KERNEL_CHUNK];
    swiglu_load(op, activated, row, column + (op->activate_left ? 0 : op->half), n);
    swiglu_load(op, g, row, column + (op->activate_left ? op->half : 0), n);
    for (int64_t i = 0; i < n; i++)
        g[i] *= activated[i] / (1 + elementary_exp(-activated[i]));
}

static float swiglu_scale(const struct swiglu *op, int64_t row)
{
    float max = 0;
    for (int64_t column = 0; column < op->half; column += KERNEL_CHUNK) {
        float g[KERNEL_CHUNK];
        int64_t n = kernel_min(KERNEL_CHUNK, op->half - column);
        swiglu_gate(op, g, row, column, n);
        for (int64_t i = 0; i < n; i++)
            max = fabsf(g[i]) > max ? fabsf(g[i]) : max;
    }
    return max / 127;
}

/* A quotient above 127 comes from a subnormal scale only. */
static int8_t swiglu_quantise(float g, float scale)
{
    float quotient = g / scale;
    if (scale == 0 || quotient != quotient)
        return 0;
    if (quotient > 127)
        return 127;
    return quotient < -127 ? -127 : (int8_t)lrintf(quotient);
}

static void swiglu_row(const struct swiglu *op, int64_t row)
{
    int8_t *y = (int8_t *)kernel_slot(&op->kernel, SWIGLU_Y) + row * op->half;
    float scale = swiglu_scale(op, row);
    for (int64_t column = 0; column < op->half; column += KERNEL_CHUNK) {
        float g[KERNEL_CHUNK];
        int64_t n = kernel_min(KERNEL_CHUNK, op->half - column);
        swiglu_gate(op, g, row, column, n);
        for (int64_t i = 0; i < n; i++)
            y[column + i] = swiglu_quantise(g[i], scale);
    }
    ((float *)kernel_slot(&op->kernel, SWIGLU_SCALE))[row] = scale;
}

skrt_kernel_fn dequant_swiglu_quant;

void dequant_swiglu_quant(skrt_core *core, uint64_t args_offset)
{
    struct swiglu op;
    if (!swiglu_open(&op, core, args_offset))
        return;
    struct kernel_range range = kernel_block_range(core, op.rows);
    for (int64_t row = range.begin; row < range.end; row++)
        swiglu_row(&op, row);
}
