/* (x1, x2) -> y of one data type, with broadcasting. */
#include "backend/kernels/binary.h"

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    binary_run(core, args_offset, &SAMPLE_OWN(_row));
}
