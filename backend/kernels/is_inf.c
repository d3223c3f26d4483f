/* IsInf: y is true where x is an infinity of either sign. */
#include "backend/kernels/elementwise.h"

static bool is_inf_test(uint32_t magnitude)
{
    return magnitude == 0x7f800000u;
}

skrt_kernel_fn is_inf;

void is_inf(skrt_core *core, uint64_t args_offset)
{
    elementwise_predicate_run(core, args_offset, is_inf_test);
}
