/* Add: y = x1 + x2, with broadcasting. */
#include "backend/kernels/add.h"

skrt_kernel_fn add;

void add(skrt_core *core, uint64_t args_offset)
{
    elementwise_binary_run(core, args_offset, &add_op);
}
