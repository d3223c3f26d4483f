/* y = x backwards along the axes that an operand names. */
#include "backend/kernels/axes.h"
#include "backend/kernels/strided.h"

enum { X, AXIS, Y, TENSORS };

skrt_kernel_fn reverse_v2;

void reverse_v2(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    struct strided strided = {.offset = 0};
    uint32_t set = 0;
    if (!kernel_open(&kernel, core, args_offset, TENSORS, false) ||
        !axes_choose_tensor(&set, &kernel, &kernel.tensors[X], AXIS))
        return;
    const struct skrt_tensor *x = &kernel.tensors[X];
    for (uint32_t i = 0; i < x->rank; i++) {
        int64_t stride = kernel_product(x, i + 1, x->rank);
        bool backwards = set >> i & 1;
        strided.offset += backwards ? (x->dims[i] - 1) * stride : 0;
        space_add(&strided.axes, x->dims[i], backwards ? -stride : stride);
    }
    strided_copy(&kernel, core, X, Y, &strided);
}
