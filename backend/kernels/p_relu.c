/* PRelu: y = x, or x * weight where x is not positive, with one weight, or one for each place along
 * the second axis. */
#include "backend/kernels/binary.h"

skrt_kernel_fn p_relu;

void p_relu(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    if (!kernel_open(&kernel, core, args_offset, 3, false))
        return;
    /* As if the weights had the axes from the second on. */
    const struct skrt_tensor *x = &kernel.tensors[0];
    struct skrt_tensor tensors[] = {*x, kernel.tensors[1], kernel.tensors[2]};
    int64_t weights = kernel_elements(&tensors[1]);
    tensors[1].rank = x->rank > 1 ? x->rank - 1 : x->rank;
    for (uint32_t i = 0; i < tensors[1].rank; i++)
        tensors[1].dims[i] = i == 0 ? weights : 1;
    struct kernel whole = {kernel.slots, kernel.tiling, tensors};
    binary_compute(&whole, &p_relu_row, skrt_block_idx(core), skrt_block_num(core));
}
