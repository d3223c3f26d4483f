/* x -> y: bool, of one shape. */
#include "backend/kernels/elementwise.h"

#include <math.h>

#define is_inf_test(x) (isinf((double)(x)) != 0)
#define is_finite_test(x) (isfinite((double)(x)) != 0)
#define is_nan_test(x) (isnan((double)(x)) != 0)
#define logical_not_test(x) ((x) == 0)
#define TEST(x) SAMPLE_OWN(_test)(x)

#define PREDICATE(as, type)                                                                        \
    SAMPLE_SOME void predicate_##as(const struct elementwise_chunk *chunk, const void *op)         \
    {                                                                                              \
        type x[KERNEL_CHUNK];                                                                      \
        uint8_t *y = (uint8_t *)kernel_slot(chunk->kernel, 1) + chunk->position;                   \
        (void)op;                                                                                  \
        elementwise_load_##as(x, chunk, 0);                                                        \
        for (int64_t i = 0; i < chunk->n; i++)                                                     \
            y[i] = TEST(x[i]);                                                                     \
    }
KERNEL_CLASSES(PREDICATE)
#define PREDICATE_OF(as) predicate_##as

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    if (!kernel_open(&kernel, core, args_offset, 2, false))
        return;
    elementwise_run(&kernel, 1, KERNEL_OF(kernel.tensors[0].dtype, PREDICATE_OF), NULL,
                    skrt_block_idx(core), skrt_block_num(core));
}
