/* y = start, start + delta and so on, up to limit, which it does not reach. Floats are computed in
 * f64, from the number of the element. */
#include "backend/kernels/kernel.h"

#include <math.h>

enum { START, LIMIT, DELTA, Y, TENSORS };

/* How many elements there are of floats, and of integers. */
static double range_length_f64(double start, double limit, double delta)
{
    double length = delta != 0 ? ceil((limit - start) / delta) : -1;
    return length > 0 ? length : delta != 0 && length <= 0 ? 0 : -1;
}

static double range_length_i64(int64_t start, int64_t limit, int64_t delta)
{
    uint64_t by = delta < 0 ? 0 - (uint64_t)delta : (uint64_t)delta;
    uint64_t way =
        delta < 0 ? (uint64_t)start - (uint64_t)limit : (uint64_t)limit - (uint64_t)start;
    if (delta == 0)
        return -1;
    return (delta < 0 ? start <= limit : limit <= start) ? 0 : (double)((way - 1) / by + 1);
}

/* `length` is of the three numbers, which are computed with as `real`. */
#define RANGE(as, type, real, length)                                                              \
    static void range_##as(const struct kernel *kernel, const skrt_core *core)                     \
    {                                                                                              \
        uint32_t dtype = kernel->tensors[Y].dtype;                                                 \
        type said[3];                                                                              \
        for (unsigned i = 0; i < 3; i++)                                                           \
            kernel_load_##as(&said[i], kernel_slot(kernel, i), dtype, 0, 1);                       \
        if (length(said[START], said[LIMIT], said[DELTA]) != (double)kernel->tensors[Y].dims[0])   \
            return;                                                                                \
        struct kernel_range range = kernel_block_range(core, kernel->tensors[Y].dims[0]);          \
        for (int64_t at = range.begin; at < range.end; at++) {                                     \
            type y = (type)((real)said[START] + (real)at * (real)said[DELTA]);                     \
            kernel_store_##as(kernel_slot(kernel, Y), dtype, at, &y, 1);                           \
        }                                                                                          \
    }
RANGE(f32, float, double, range_length_f64)
RANGE(f64, double, double, range_length_f64)
RANGE(i64, int64_t, uint64_t, range_length_i64)
#define range_u64 range_i64
#define RANGE_OF(as) range_##as

skrt_kernel_fn range;

void range(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    if (kernel_open(&kernel, core, args_offset, TENSORS, false))
        KERNEL_OF(kernel.tensors[Y].dtype, RANGE_OF)(&kernel, core);
}
