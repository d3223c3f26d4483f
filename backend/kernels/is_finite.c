/* IsFinite: y is true where x is neither infinite nor NaN. */
#include "backend/kernels/elementwise.h"

static bool is_finite_test(uint32_t magnitude)
{
    return magnitude < 0x7f800000u;
}

skrt_kernel_fn is_finite;

void is_finite(skrt_core *core, uint64_t args_offset)
{
    elementwise_predicate_run(core, args_offset, is_finite_test);
}
