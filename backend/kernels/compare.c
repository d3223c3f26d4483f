/* (x1, x2) -> y: bool, with broadcasting. Nothing is equal to NaN, larger or smaller. */
#include "backend/kernels/pairs.h"

struct compare {
#define COMPARE_MEMBER(as, type) void (*as)(int64_t * y, const type *x1, const type *x2, int64_t n);
    KERNEL_CLASSES(COMPARE_MEMBER)
};

#define COMPARE(name, expression)                                                                  \
    PAIRS_LOOP(name##_f32, float, int64_t, expression)                                             \
    PAIRS_LOOP(name##_f64, double, int64_t, expression)                                            \
    PAIRS_LOOP(name##_i64, int64_t, int64_t, expression)                                           \
    PAIRS_LOOP(name##_u64, uint64_t, int64_t, expression)                                          \
    SAMPLE_SOME const struct compare name##_row = {name##_f32, name##_f64, name##_i64, name##_u64};

COMPARE(equal, a == b)
COMPARE(not_equal, a != b)
COMPARE(greater, a > b)
COMPARE(greater_equal, a >= b)
COMPARE(less, a < b)
COMPARE(less_equal, a <= b)
COMPARE(logical_and, a != 0 && b != 0)
COMPARE(logical_or, a != 0 || b != 0)

#define COMPARE_CHUNK(as, type) PAIRS_CHUNK(compare_##as, struct compare, as, type, i64, int64_t)
KERNEL_CLASSES(COMPARE_CHUNK)
#define COMPARE_OF(as) compare_##as

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    if (!kernel_open(&kernel, core, args_offset, 3, false))
        return;
    elementwise_run(&kernel, 2, KERNEL_OF(kernel.tensors[0].dtype, COMPARE_OF), &SAMPLE_OWN(_row),
                    skrt_block_idx(core), skrt_block_num(core));
}
