/* SwiGlu: of the two halves of x along `dim`, the first times its sigmoid times the second. */
#include "backend/kernels/axes.h"
#include "backend/kernels/elementary.h"

enum { X, Y, TENSORS };

skrt_kernel_fn swi_glu;

/* `line` and `y_line`: where lines of x and of y begin. */
static void swi_glu_line(const struct kernel *kernel, const struct axes *x, const struct axes *y,
                         int64_t line, int64_t y_line)
{
    uint32_t dtype = kernel->tensors[X].dtype;
    for (int64_t at = 0; at < y->length; at += KERNEL_CHUNK) {
        float a[KERNEL_CHUNK], b[KERNEL_CHUNK];
        int64_t n = kernel_min(KERNEL_CHUNK, y->length - at);
        axes_load_f32(x, a, kernel_slot(kernel, X), dtype, line, at, n);
        axes_load_f32(x, b, kernel_slot(kernel, X), dtype, line, y->length + at, n);
        for (int64_t i = 0; i < n; i++)
            a[i] = a[i] / (1 + elementary_exp(-a[i])) * b[i];
        axes_store_f32(y, a, kernel_slot(kernel, Y), kernel->tensors[Y].dtype, y_line, at, n);
    }
}

void swi_glu(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    struct axes x, y;
    uint32_t set = 0;
    if (!kernel_open(&kernel, core, args_offset, TENSORS, false) ||
        !axes_choose_attr(&set, &kernel, &kernel.tensors[X], "dim", -1))
        return;
    axes_open(&x, &kernel.tensors[X], set);
    axes_open(&y, &kernel.tensors[Y], set);
    struct kernel_range range = kernel_block_range(core, x.lines);
    for (int64_t n = range.begin; n < range.end; n++)
        swi_glu_line(&kernel, &x, &y, axes_line(&x, n), axes_line(&y, n));
}
