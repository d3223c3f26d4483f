/* Ops of x and a vector with an element for each place along an axis, or one for all: PRelu, along
 * the second axis, and BiasAdd, along the one that `data_format` says. */
#include "backend/kernels/binary.h"

#define bias_add_row add_row

enum { p_relu_is_second = 1, bias_add_is_second = 0 };

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    if (!kernel_open(&kernel, core, args_offset, 3, false))
        return;
    /* As if the vector had the axes from there on. */
    const struct skrt_tensor *x = &kernel.tensors[0];
    bool second =
        SAMPLE_OWN(_is_second) || strcmp(kernel_text(&kernel, "data_format", "NHWC"), "NCHW") == 0;
    struct skrt_tensor tensors[] = {*x, kernel.tensors[1], kernel.tensors[2]};
    int64_t elements = kernel_elements(&tensors[1]);
    tensors[1].rank = x->rank <= 1 ? x->rank : second ? x->rank - 1 : 1;
    for (uint32_t i = 0; i < tensors[1].rank; i++)
        tensors[1].dims[i] = i == 0 ? elements : 1;
    struct kernel whole = {kernel.slots, kernel.tiling, tensors};
    binary_compute(&whole, &SAMPLE_OWN(_row), skrt_block_idx(core), skrt_block_num(core));
}
