/* y = x: what a collective op is on one rank. */
#include "backend/kernels/strided.h"

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    struct strided strided = {.offset = 0};
    if (!kernel_open(&kernel, core, args_offset, 2, false))
        return;
    space_add(&strided.axes, kernel_elements(&kernel.tensors[0]), 1);
    strided_copy(&kernel, core, 0, 1, &strided);
}
