/* y = x, broadcast as NumPy does to a shape: an operand (BroadcastTo), or an attribute
 * (BroadcastToD). */
#include "backend/kernels/elementwise.h"
#include "backend/kernels/ints.h"
#include "backend/kernels/strided.h"

enum { broadcast_to_operands = 2, broadcast_to_d_operands = 1 };

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    struct strided strided = {.offset = 0};
    struct ints shape;
    int64_t strides[SKRT_MAX_RANK];
    uint32_t y = SAMPLE_OWN(_operands);
    if (!ints_open(&shape, &kernel, core, args_offset, y, "shape"))
        return;
    const struct skrt_tensor *to = &kernel.tensors[y];
    if (!ints_are_dims(&shape, to) || !elementwise_strides(&kernel.tensors[0], to, strides))
        return;
    for (uint32_t i = 0; i < to->rank; i++)
        space_add(&strided.axes, to->dims[i], strides[i]);
    strided_copy(&kernel, core, 0, y, &strided);
}
