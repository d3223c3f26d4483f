/* Assign: ref becomes value, in place. */
#include "backend/kernels/kernel.h"

skrt_kernel_fn assign;

void assign(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    if (!kernel_open(&kernel, core, args_offset, 2, false))
        return;
    int64_t element = kernel_dtype_size(kernel.tensors[0].dtype);
    struct kernel_range range = kernel_block_range(core, kernel_elements(&kernel.tensors[0]));
    memmove((char *)kernel_slot(&kernel, 0) + range.begin * element,
            (const char *)kernel_slot(&kernel, 1) + range.begin * element,
            (size_t)((range.end - range.begin) * element));
}
