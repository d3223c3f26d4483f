/* ArgMaxV2, whose dimension is a tensor that is read at run time, and ArgMaxD, whose dimension is
 * an attribute: where the largest element along it is, the first of several; NaN is larger than
 * all. */
#include "backend/kernels/axes.h"

enum { arg_max_v2_tensor = 1, arg_max_d_tensor = 0 };
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
    return kernel->tensors[Y].rank + 1 == x->rank &&
           kernel_elements(&kernel->tensors[Y]) == op->axes.lines && op->axes.length > 0;
}

/* Where the largest element of a line is; `exceeds` is of x[i] and the largest before it, `all`. */
#define ARG_MAX_LINE(name, type, exceeds)                                                          \
    static int64_t arg_max_##name(const struct arg_max *op, int64_t line)                          \
    {                                                                                              \
        type x[KERNEL_CHUNK], all = 0;                                                             \
        int64_t place = 0;                                                                         \
        for (int64_t at = 0; at < op->axes.length; at += KERNEL_CHUNK) {                           \
            int64_t n = kernel_min(KERNEL_CHUNK, op->axes.length - at);                            \
            axes_load_##name(&op->axes, x, kernel_slot(&op->kernel, X),                            \
                             op->kernel.tensors[X].dtype, line, at, n);                            \
            all = at == 0 ? x[0] : all;                                                            \
            for (int64_t i = 0; i < n; i++) {                                                      \
                bool larger = exceeds;                                                             \
                place = larger ? at + i : place;                                                   \
                all = larger ? x[i] : all;                                                         \
            }                                                                                      \
        }                                                                                          \
        return place;                                                                              \
    }
ARG_MAX_LINE(f32, float, x[i] > all || (x[i] != x[i] && all == all))
ARG_MAX_LINE(i64, int64_t, x[i] > all)
#undef ARG_MAX_LINE

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct arg_max op;
    if (!arg_max_open(&op, core, args_offset))
        return;
    struct kernel_range range = kernel_block_range(core, op.axes.lines);
    for (int64_t n = range.begin; n < range.end; n++) {
        int64_t line = axes_line(&op.axes, n);
        int64_t place = kernel_is_float(op.kernel.tensors[X].dtype) ? arg_max_f32(&op, line)
                                                                    : arg_max_i64(&op, line);
        kernel_store_i64(kernel_slot(&op.kernel, Y), op.kernel.tensors[Y].dtype, n, &place, 1);
    }
}
