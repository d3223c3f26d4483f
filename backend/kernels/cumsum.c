/* Cumsum and Cumprod, whose axis is a tensor that is read at run time, and CumsumD and CumprodD,
 * whose axis is an attribute: the sums or products of the elements up to each. With `exclusive` the
 * element itself does not count, with `reverse` they go from the last to the first. Those of f16,
 * bf16 and f32 are f32, in this order, each rounded once where it is stored. */
#include "backend/kernels/axes.h"

enum { cumsum_tensor = 1, cumsum_d_tensor = 0, cumprod_tensor = 1, cumprod_d_tensor = 0 };
enum { cumsum_product = 0, cumsum_d_product = 0, cumprod_product = 1, cumprod_d_product = 1 };
enum { TENSOR = SAMPLE_OWN(_tensor), X = 0, Y = 1 + TENSOR, TENSORS };

struct cumsum {
    struct kernel kernel;
    struct axes axes;
    bool exclusive, reverse;
};

static bool cumsum_open(struct cumsum *op, const skrt_core *core, uint64_t args_offset)
{
    uint32_t set = 0;
    const struct kernel *kernel = &op->kernel;
    if (!kernel_open(&op->kernel, core, args_offset, TENSORS, false))
        return false;
    const struct skrt_tensor *x = &kernel->tensors[X];
    if (!axes_choose_one(&set, kernel, x, TENSOR, "axis"))
        return false;
    axes_open(&op->axes, x, set);
    op->exclusive = kernel_flag(kernel, "exclusive", false);
    op->reverse = kernel_flag(kernel, "reverse", false);
    return true;
}

/* A line's elements one after the other, in the order of the sums. */
#define CUMSUM_LINE(as, type)                                                                      \
    static void cumsum_##as(const struct cumsum *op, int64_t line)                                 \
    {                                                                                              \
        uint32_t dtype = op->kernel.tensors[X].dtype;                                              \
        type sum = SAMPLE_OWN(_product), x;                                                        \
        for (int64_t i = 0; i < op->axes.length; i++) {                                            \
            int64_t at = op->reverse ? op->axes.length - 1 - i : i;                                \
            axes_load_##as(&op->axes, &x, kernel_slot(&op->kernel, X), dtype, line, at, 1);        \
            type before = sum;                                                                     \
            sum = SAMPLE_OWN(_product) ? sum * x : sum + x;                                        \
            axes_store_##as(&op->axes, op->exclusive ? &before : &sum,                             \
                            kernel_slot(&op->kernel, Y), dtype, line, at, 1);                      \
        }                                                                                          \
    }
KERNEL_FLOATS(CUMSUM_LINE)
CUMSUM_LINE(u64, uint64_t)
#undef CUMSUM_LINE

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct cumsum op;
    if (!cumsum_open(&op, core, args_offset))
        return;
    struct kernel_range range = kernel_block_range(core, op.axes.lines);
    for (int64_t n = range.begin; n < range.end; n++) {
        int64_t line = axes_line(&op.axes, n);
        switch (kernel_class_of(op.kernel.tensors[X].dtype)) {
        case KERNEL_f32: cumsum_f32(&op, line); break;
        case KERNEL_f64: cumsum_f64(&op, line); break;
        default: cumsum_u64(&op, line); break;
        }
    }
}
