/* y = x with its axes in the order of perm: an operand (Transpose) or an attribute (TransposeD). */
#include "backend/kernels/ints.h"
#include "backend/kernels/strided.h"

enum { transpose_operands = 2, transpose_d_operands = 1 };

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    struct strided strided = {.offset = 0};
    struct ints perm;
    uint32_t seen = 0, axis, y = SAMPLE_OWN(_operands);
    if (!ints_open(&perm, &kernel, core, args_offset, y, "perm"))
        return;
    const struct skrt_tensor *from = &kernel.tensors[0], *to = &kernel.tensors[y];
    for (uint32_t i = 0; i < perm.count; i++) {
        if (!kernel_axis(perm.at[i], from->rank, &axis) || to->dims[i] != from->dims[axis])
            return;
        seen |= UINT32_C(1) << axis;
        space_add(&strided.axes, to->dims[i], kernel_product(from, axis + 1, from->rank));
    }
    if (seen == (UINT32_C(1) << from->rank) - 1)
        strided_copy(&kernel, core, 0, y, &strided);
}
