/* y = one value everywhere: an operand (Fill, whose first operand says the dimensions of y). */
#include "backend/kernels/ints.h"
#include "backend/kernels/strided.h"

enum { FILL_DIMS, FILL_VALUE, FILL_Y, FILL_TENSORS };

skrt_kernel_fn fill;

void fill(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    struct strided strided = {.offset = 0};
    struct ints dims;
    if (!kernel_open(&kernel, core, args_offset, FILL_TENSORS, false) ||
        !ints_of_operand(&dims, &kernel, FILL_DIMS) ||
        !ints_are_dims(&dims, &kernel.tensors[FILL_Y]))
        return;
    space_add(&strided.axes, kernel_elements(&kernel.tensors[FILL_Y]), 0);
    strided_copy(&kernel, core, FILL_VALUE, FILL_Y, &strided);
}
