/* ArgMaxV2 and ArgMin, whose dimension is a tensor that is read at run time, and ArgMaxD and
 * ArgMinD, whose dimension is an attribute: where the largest (smallest) element along it is, the
 * first of several. NaN is larger (smaller) than all. */
#include "backend/kernels/axes.h"

enum { arg_max_v2_tensor = 1, arg_max_d_tensor = 0, arg_min_tensor = 1, arg_min_d_tensor = 0 };
enum { arg_max_v2_largest = 1, arg_max_d_largest = 1, arg_min_largest = 0, arg_min_d_largest = 0 };
enum { TENSOR = SAMPLE_OWN(_tensor), X = 0, Y = 1 + TENSOR, TENSORS };

struct arg_max {
    struct kernel kernel;
    struct axes axes;
};

static bool arg_max_open(struct arg_max *op, const skrt_core *core, uint64_t args_offset)
{
    uint32_t set = 0;
    const struct kernel *kernel = &op->kernel;
    if (!kernel_open(&op->kernel, core, args_offset, TENSORS, false))
        return false;
    const struct skrt_tensor *x = &kernel->tensors[X];
    if (!axes_choose_one(&set, kernel, x, TENSOR, "dimension"))
        return false;
    axes_open(&op->axes, x, set);
    return kernel_elements(&kernel->tensors[Y]) == op->axes.lines && op->axes.length > 0;
}

/* Where it is in a line. */
#define ARG_MAX_LINE(as, type)                                                                     \
    static int64_t arg_max_##as(const struct arg_max *op, int64_t line)                            \
    {                                                                                              \
        type x[KERNEL_CHUNK], all = 0;                                                             \
        int64_t place = 0;                                                                         \
        for (int64_t at = 0; at < op->axes.length; at += KERNEL_CHUNK) {                           \
            int64_t n = kernel_min(KERNEL_CHUNK, op->axes.length - at);                            \
            axes_load_##as(&op->axes, x, kernel_slot(&op->kernel, X), op->kernel.tensors[X].dtype, \
                           line, at, n);                                                           \
            all = at == 0 ? x[0] : all;                                                            \
            for (int64_t i = 0; i < n; i++) {                                                      \
                bool exceeds = SAMPLE_OWN(_largest) ? x[i] > all : x[i] < all;                     \
                exceeds |= x[i] != x[i] && all == all;                                             \
                place = exceeds ? at + i : place;                                                  \
                all = exceeds ? x[i] : all;                                                        \
            }                                                                                      \
        }                                                                                          \
        return place;                                                                              \
    }
KERNEL_CLASSES(ARG_MAX_LINE)
#undef ARG_MAX_LINE
#define ARG_MAX_OF(as) arg_max_##as

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct arg_max op;
    if (!arg_max_open(&op, core, args_offset))
        return;
    struct kernel_range range = kernel_block_range(core, op.axes.lines);
    for (int64_t n = range.begin; n < range.end; n++) {
        int64_t line = axes_line(&op.axes, n);
        int64_t place = KERNEL_OF(op.kernel.tensors[X].dtype, ARG_MAX_OF)(&op, line);
        kernel_store_i64(kernel_slot(&op.kernel, Y), op.kernel.tensors[Y].dtype, n, &place, 1);
    }
}
