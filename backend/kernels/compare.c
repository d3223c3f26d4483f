/* (x1, x2) -> y: bool, with broadcasting. Nothing is equal to NaN, larger or smaller. */
#include "backend/kernels/pairs.h"

struct compare {
    void (*f32)(int64_t *y, const float *x1, const float *x2, int64_t n);
    void (*i64)(int64_t *y, const int64_t *x1, const int64_t *x2, int64_t n);
};

#define COMPARE(name, expression)                                                                  \
    PAIRS_LOOP(name##_f32, float, int64_t, expression)                                             \
    PAIRS_LOOP(name##_i64, int64_t, int64_t, expression)                                           \
    SAMPLE_SOME const struct compare name##_row = {name##_f32, name##_i64};

COMPARE(equal, a == b)
COMPARE(not_equal, a != b)
COMPARE(greater, a > b)
COMPARE(greater_equal, a >= b)
COMPARE(less, a < b)
COMPARE(less_equal, a <= b)
COMPARE(logical_and, a != 0 && b != 0)
COMPARE(logical_or, a != 0 || b != 0)

PAIRS_CHUNK(compare_floats, struct compare, f32, float, i64, int64_t)
PAIRS_CHUNK(compare_ints, struct compare, i64, int64_t, i64, int64_t)

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    if (!kernel_open(&kernel, core, args_offset, 3, false) ||
        kernel.tensors[1].dtype != kernel.tensors[0].dtype || kernel.tensors[2].dtype != SKRT_bool)
        return;
    elementwise_run(&kernel, 2,
                    kernel_is_float(kernel.tensors[0].dtype) ? compare_floats : compare_ints,
                    &SAMPLE_OWN(_row), skrt_block_idx(core), skrt_block_num(core));
}
