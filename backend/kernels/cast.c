/* Cast: y = x in another dtype, of the same shape.
 *
 * Between floats and from integers to floats: to nearest even, in one rounding. Float to integer:
 * towards zero; results out of range, and those of NaN, are undefined. Integer to integer: the low
 * bits. To bool: whether the value is not zero (NaN is not).
 */
#include "backend/kernels/kernel.h"

#include <math.h>

/* Without the fraction. What the 64 bits of a class do not have has no defined value. */
static uint64_t cast_to_int(double value, uint32_t to)
{
    if (to == SKRT_bool)
        return value != 0;
    if (to == SKRT_u64 && value >= 0x1p63)
        return value < 0x1p64 ? (uint64_t)value : UINT64_MAX;
    return (uint64_t)(value >= -0x1p63 && value < 0x1p63 ? (int64_t)value : INT64_MIN);
}

/* Rounds to odd: bits that do not fit into 24 are dropped, and the last one kept tells that they
 * were there. A second rounding to 11 bits or fewer is then as good as a single one. */
static float cast_to_odd(uint64_t magnitude, bool negative)
{
    uint64_t lost = 0;
    int shift = 0;
    for (; magnitude >> 24 != 0; shift++) {
        lost |= magnitude & 1;
        magnitude >>= 1;
    }
    float odd = ldexpf((float)(magnitude | lost), shift);
    return negative ? -odd : odd;
}

/* The same of f64: the nearer f32 is left for the other neighbour where it is even. */
static float cast_f64_to_odd(double value)
{
    float near = (float)value;
    if ((double)near == value || value != value || (float_bits(near) & 1) != 0)
        return near;
    bool larger = fabs((double)near) > fabs(value);
    return float_from_bits(larger ? float_bits(near) - 1 : float_bits(near) + 1);
}

/* One chunk, from each class to each. */
struct cast_chunk {
    const struct kernel *kernel;
    int64_t at, n;
};

#define CAST_STORE(as, type, expression)                                                           \
    {                                                                                              \
        type y[KERNEL_CHUNK];                                                                      \
        for (int64_t i = 0; i < chunk->n; i++)                                                     \
            y[i] = (expression);                                                                   \
        kernel_store_##as(kernel_slot(chunk->kernel, 1), to, chunk->at, y, chunk->n);              \
    }
#define CAST_FROM(as, type, narrow, to_int)                                                        \
    static void cast_##as(const struct cast_chunk *chunk)                                          \
    {                                                                                              \
        uint32_t to = chunk->kernel->tensors[1].dtype;                                             \
        type x[KERNEL_CHUNK];                                                                      \
        kernel_load_##as(x, kernel_slot(chunk->kernel, 0), chunk->kernel->tensors[0].dtype,        \
                         chunk->at, chunk->n);                                                     \
        if (to == SKRT_f32)                                                                        \
            CAST_STORE(f32, float, (float)x[i])                                                    \
        else if (to == SKRT_f64)                                                                   \
            CAST_STORE(f64, double, (double)x[i])                                                  \
        else if (kernel_is_float(to))                                                              \
            CAST_STORE(f32, float, narrow)                                                         \
        else                                                                                       \
            CAST_STORE(u64, uint64_t, to_int)                                                      \
    }
#define CAST_MAGNITUDE (x[i] < 0 ? 0 - (uint64_t)x[i] : (uint64_t)x[i])
CAST_FROM(f32, float, x[i], cast_to_int((double)x[i], to))
CAST_FROM(f64, double, cast_f64_to_odd(x[i]), cast_to_int(x[i], to))
CAST_FROM(i64, int64_t, cast_to_odd(CAST_MAGNITUDE, x[i] < 0), (uint64_t)x[i])
CAST_FROM(u64, uint64_t, cast_to_odd(x[i], false), x[i])
#define CAST_OF(as) cast_##as

skrt_kernel_fn cast;

void cast(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    if (!kernel_open(&kernel, core, args_offset, 2, false))
        return;
    struct cast_chunk chunk = {.kernel = &kernel};
    struct kernel_range range = kernel_block_range(core, kernel_elements(&kernel.tensors[0]));
    for (chunk.at = range.begin; chunk.at < range.end; chunk.at += chunk.n) {
        chunk.n = kernel_min(KERNEL_CHUNK, range.end - chunk.at);
        KERNEL_OF(kernel.tensors[0].dtype, CAST_OF)(&chunk);
    }
}
