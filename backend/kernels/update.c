/* AssignAdd and AssignSub: ref becomes ref + value, or ref - value, in place. */
#include "backend/kernels/binary.h"

#define assign_add_row add_row
#define assign_sub_row sub_row

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    if (!kernel_open(&kernel, core, args_offset, 2, false))
        return;
    /* As if the result were a third tensor. */
    struct skrt_tensor tensors[] = {kernel.tensors[0], kernel.tensors[1], kernel.tensors[0]};
    uint64_t slots[] = {kernel.slots[0], kernel.slots[1], kernel.slots[0]};
    struct kernel whole = {slots, kernel.tiling, tensors};
    binary_compute(&whole, &SAMPLE_OWN(_row), skrt_block_idx(core), skrt_block_num(core));
}
