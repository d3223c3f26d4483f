/* AscendDequant: y = x * deq_scale, which has one element or one for each column; of u64 it is the
 * low half, which is an f32. With `sqrt_mode` x is multiplied by it twice; `relu_flag` makes what
 * is negative 0. In f32, from the integer rounded to f32. */
#include "backend/kernels/kernel.h"

enum { X, SCALE, Y, TENSORS };

static float dequant_scale(const struct kernel *kernel, int64_t n)
{
    float scale;
    const struct skrt_tensor *listed = &kernel->tensors[SCALE];
    n = kernel_elements(listed) == 1 ? 0 : n;
    if (listed->dtype == SKRT_u64)
        memcpy(&scale, (const uint64_t *)kernel_slot(kernel, SCALE) + n, sizeof scale);
    else
        kernel_load_f32(&scale, kernel_slot(kernel, SCALE), listed->dtype, n, 1);
    return scale;
}

skrt_kernel_fn ascend_dequant;

void ascend_dequant(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    if (!kernel_open(&kernel, core, args_offset, TENSORS, false))
        return;
    const int32_t *x = kernel_slot(&kernel, X);
    bool twice = kernel_flag(&kernel, "sqrt_mode", false);
    bool relu = kernel_flag(&kernel, "relu_flag", false);
    int64_t columns = kernel_elements(&kernel.tensors[SCALE]);
    struct kernel_range range = kernel_block_range(core, kernel_elements(&kernel.tensors[X]));
    for (int64_t at = range.begin; at < range.end; at += KERNEL_CHUNK) {
        float y[KERNEL_CHUNK];
        int64_t n = kernel_min(KERNEL_CHUNK, range.end - at);
        for (int64_t i = 0; i < n; i++) {
            float scale = dequant_scale(&kernel, (at + i) % columns);
            y[i] = (float)x[at + i] * scale * (twice ? scale : 1);
            y[i] = relu && y[i] < 0 ? 0 : y[i];
        }
        kernel_store_f32(kernel_slot(&kernel, Y), kernel.tensors[Y].dtype, at, y, n);
    }
}
