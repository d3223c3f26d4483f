/* Cast: y = x in another dtype, of the same shape.
 *
 * Between floats and from integers to floats: to nearest even, in one rounding. Float to integer:
 * towards zero; results out of range, and those of NaN, are undefined. Integer to integer: the low
 * bits. To bool: whether the value is not zero (NaN is not).
 */
#include "backend/kernels/kernel.h"

#include <math.h>

/* Without the fraction. What i64 does not have has no defined value; here it is the smallest. */
static int64_t cast_to_int(float value)
{
    return value >= -0x1p63f && value < 0x1p63f ? (int64_t)value : INT64_MIN;
}

/* Rounds to odd: bits that do not fit into 24 are dropped, and the last one kept tells that they
 * were there. A second rounding to 11 bits or fewer is then as good as a single one. */
static float cast_to_odd(int64_t value)
{
    uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;
    uint64_t lost = 0;
    int shift = 0;
    for (; magnitude >> 24 != 0; shift++) {
        lost |= magnitude & 1;
        magnitude >>= 1;
    }
    float odd = ldexpf((float)(magnitude | lost), shift);
    return value < 0 ? -odd : odd;
}

static void cast_float(const struct kernel *kernel, int64_t at, int64_t n)
{
    uint32_t to = kernel->tensors[1].dtype;
    float x[KERNEL_CHUNK];
    kernel_load_f32(x, kernel_slot(kernel, 0), kernel->tensors[0].dtype, at, n);
    if (kernel_is_float(to)) {
        kernel_store_f32(kernel_slot(kernel, 1), to, at, x, n);
        return;
    }
    int64_t y[KERNEL_CHUNK];
    for (int64_t i = 0; i < n; i++)
        y[i] = to == SKRT_bool ? x[i] != 0 : cast_to_int(x[i]);
    kernel_store_i64(kernel_slot(kernel, 1), to, at, y, n);
}

static void cast_int(const struct kernel *kernel, int64_t at, int64_t n)
{
    uint32_t to = kernel->tensors[1].dtype;
    int64_t x[KERNEL_CHUNK];
    kernel_load_i64(x, kernel_slot(kernel, 0), kernel->tensors[0].dtype, at, n);
    if (!kernel_is_float(to)) {
        kernel_store_i64(kernel_slot(kernel, 1), to, at, x, n);
        return;
    }
    float y[KERNEL_CHUNK];
    for (int64_t i = 0; i < n; i++)
        y[i] = to == SKRT_f32 ? (float)x[i] : cast_to_odd(x[i]);
    kernel_store_f32(kernel_slot(kernel, 1), to, at, y, n);
}

skrt_kernel_fn cast;

void cast(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    if (!kernel_open(&kernel, core, args_offset, 2, false) ||
        !kernel_same_dims(&kernel.tensors[0], &kernel.tensors[1]))
        return;
    bool from_float = kernel_is_float(kernel.tensors[0].dtype);
    struct kernel_range range = kernel_block_range(core, kernel_elements(&kernel.tensors[0]));
    for (int64_t at = range.begin; at < range.end; at += KERNEL_CHUNK) {
        int64_t n = kernel_min(KERNEL_CHUNK, range.end - at);
        if (from_float)
            cast_float(&kernel, at, n);
        else
            cast_int(&kernel, at, n);
    }
}
