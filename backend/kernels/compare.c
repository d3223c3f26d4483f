/* (x1, x2) -> y: bool, with broadcasting. Nothing is equal to NaN, larger or smaller. */
#include "backend/kernels/elementwise.h"

struct compare {
    void (*f32)(int64_t *y, const float *x1, const float *x2, int64_t n);
    void (*i64)(int64_t *y, const int64_t *x1, const int64_t *x2, int64_t n);
};

#define COMPARE_LOOP(function, type, expression)                                                   \
    SAMPLE_SOME void function(int64_t *y, const type *x1, const type *x2, int64_t n)               \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            type a = x1[i], b = x2[i];                                                             \
            y[i] = (expression);                                                                   \
        }                                                                                          \
    }

#define COMPARE(name, expression)                                                                  \
    COMPARE_LOOP(name##_f32, float, expression)                                                    \
    COMPARE_LOOP(name##_i64, int64_t, expression)                                                  \
    SAMPLE_SOME const struct compare name##_row = {name##_f32, name##_i64};

COMPARE(equal, a == b)
COMPARE(not_equal, a != b)
COMPARE(greater, a > b)
COMPARE(greater_equal, a >= b)
COMPARE(less, a < b)
COMPARE(less_equal, a <= b)
COMPARE(logical_and, a != 0 && b != 0)
COMPARE(logical_or, a != 0 || b != 0)

static void compare_floats(const struct elementwise_chunk *chunk, const void *op)
{
    const struct compare *row = op;
    float a[KERNEL_CHUNK], b[KERNEL_CHUNK];
    int64_t y[KERNEL_CHUNK];
    elementwise_load_f32(a, chunk, 0);
    elementwise_load_f32(b, chunk, 1);
    row->f32(y, a, b, chunk->n);
    elementwise_store_i64(chunk, 2, y);
}

static void compare_ints(const struct elementwise_chunk *chunk, const void *op)
{
    const struct compare *row = op;
    int64_t a[KERNEL_CHUNK], b[KERNEL_CHUNK], y[KERNEL_CHUNK];
    elementwise_load_i64(a, chunk, 0);
    elementwise_load_i64(b, chunk, 1);
    row->i64(y, a, b, chunk->n);
    elementwise_store_i64(chunk, 2, y);
}

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
