/* Add as a dynamic kernel: a small result on one core, a large one on as many as the tiling says
 * (sample_ops.c). */
#include "backend/kernels/binary.h"

skrt_kernel_fn add_dynamic_small, add_dynamic_large;

/* The first block does it all, whatever the number of blocks. */
void add_dynamic_small(skrt_core *core, uint64_t args_offset)
{
    if (skrt_block_idx(core) == 0)
        binary_part(core, args_offset, &add_row, 0, 1);
}

void add_dynamic_large(skrt_core *core, uint64_t args_offset)
{
    binary_run(core, args_offset, &add_row);
}
