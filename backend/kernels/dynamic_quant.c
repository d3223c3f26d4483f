/* DynamicQuant: per row of x, times smooth_scales per column if they are there: scale = max|x| /
 * 127 and y = x / scale, rounded to nearest even. NaN does not count for the maximum, and is 0 in
 * y, as all is where the scale is 0. */
#include "backend/kernels/quantise.h"

enum { X, SMOOTH, Y = 3, SCALE, TENSORS };

static void dynamic_quant_load(const struct kernel *kernel, float *x, int64_t row, int64_t columns,
                               int64_t at, int64_t n)
{
    const struct skrt_tensor *smooth = &kernel->tensors[SMOOTH];
    float factors[KERNEL_CHUNK];
    kernel_load_f32(x, kernel_slot(kernel, X), kernel->tensors[X].dtype, row * columns + at, n);
    if (smooth->form == SKRT_ABSENT)
        return;
    kernel_load_f32(factors, kernel_slot(kernel, SMOOTH), smooth->dtype, at, n);
    for (int64_t i = 0; i < n; i++)
        x[i] *= factors[i];
}

static void dynamic_quant_row(const struct kernel *kernel, int64_t row, int64_t columns)
{
    float x[KERNEL_CHUNK], max = 0;
    int8_t *y = (int8_t *)kernel_slot(kernel, Y) + row * columns;
    for (int64_t at = 0; at < columns; at += KERNEL_CHUNK) {
        int64_t n = kernel_min(KERNEL_CHUNK, columns - at);
        dynamic_quant_load(kernel, x, row, columns, at, n);
        for (int64_t i = 0; i < n; i++)
            max = fabsf(x[i]) > max ? fabsf(x[i]) : max;
    }
    float scale = max / 127;
    for (int64_t at = 0; at < columns; at += KERNEL_CHUNK) {
        int64_t n = kernel_min(KERNEL_CHUNK, columns - at);
        dynamic_quant_load(kernel, x, row, columns, at, n);
        for (int64_t i = 0; i < n; i++)
            y[at + i] = scale > 0 ? quantise_i8(x[i] / scale, QUANTISE_NEAREST) : 0;
    }
    ((float *)kernel_slot(kernel, SCALE))[row] = scale;
}

skrt_kernel_fn dynamic_quant;

void dynamic_quant(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    if (!kernel_open(&kernel, core, args_offset, TENSORS, false))
        return;
    const struct skrt_tensor *x = &kernel.tensors[X];
    struct kernel_range range = kernel_block_range(core, kernel_elements(&kernel.tensors[SCALE]));
    for (int64_t row = range.begin; row < range.end; row++)
        dynamic_quant_row(&kernel, row, x->dims[x->rank - 1]);
}
