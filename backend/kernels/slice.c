/* y = the part of x from offsets on that has a size, -1 for the rest: operands (Slice), or
 * attributes (SliceD). */
#include "backend/kernels/ints.h"
#include "backend/kernels/strided.h"

enum { slice_operands = 3, slice_d_operands = 1 };

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    struct strided strided = {.offset = 0};
    struct ints offsets, size;
    uint32_t y = SAMPLE_OWN(_operands);
    if (!kernel_open(&kernel, core, args_offset, y + 1, false) ||
        !ints_of(&offsets, &kernel, y == 3 ? 1 : 0, "offsets") ||
        !ints_of(&size, &kernel, y == 3 ? 2 : 0, "size"))
        return;
    const struct skrt_tensor *from = &kernel.tensors[0], *to = &kernel.tensors[y];
    if (!ints_are_dims(&size, to))
        return;
    for (uint32_t i = 0; i < from->rank; i++) {
        int64_t first = offsets.at[i], room = from->dims[i] - to->dims[i];
        if (first < 0 || first > room || (size.at[i] == -1 && first != room))
            return;
        int64_t stride = kernel_product(from, i + 1, from->rank);
        strided.offset += first * stride;
        space_add(&strided.axes, to->dims[i], stride);
    }
    strided_copy(&kernel, core, 0, y, &strided);
}
