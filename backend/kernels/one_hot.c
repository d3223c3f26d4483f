/* y = on_value where the place along the new axis is the element of x, else off_value. The operand
 * depth is the length of that axis. */
#include "backend/kernels/ints.h"

enum { X, DEPTH, ON, OFF, Y, TENSORS };

skrt_kernel_fn one_hot;

void one_hot(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    struct ints depth;
    uint32_t axis;
    if (!kernel_open(&kernel, core, args_offset, TENSORS, false) ||
        !ints_of_operand(&depth, &kernel, DEPTH) ||
        !kernel_axis(kernel_int(&kernel, "axis", -1), kernel.tensors[Y].rank, &axis))
        return;
    const struct skrt_tensor *x = &kernel.tensors[X], *y = &kernel.tensors[Y];
    int64_t size = kernel_dtype_size(y->dtype), inner = kernel_product(y, axis + 1, y->rank);
    if (depth.at[0] != y->dims[axis])
        return;
    struct kernel_range range = kernel_block_range(core, kernel_elements(y));
    for (int64_t at = range.begin; at < range.end; at++) {
        int64_t place = at / inner % depth.at[0], found;
        kernel_load_i64(&found, kernel_slot(&kernel, X), x->dtype,
                        at / inner / depth.at[0] * inner + at % inner, 1);
        memcpy((char *)kernel_slot(&kernel, Y) + at * size,
               kernel_slot(&kernel, found == place ? ON : OFF), (size_t)size);
    }
}
