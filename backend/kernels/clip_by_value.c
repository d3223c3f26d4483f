/* ClipByValue: y = the smaller of clip_value_max and the larger of x and clip_value_min, with
 * broadcasting. NaN stays, and so does one that is a limit. */
#include "backend/kernels/elementwise.h"

#define CLIP(as, type)                                                                             \
    static void clip_##as(const struct elementwise_chunk *chunk, const void *op)                   \
    {                                                                                              \
        type y[KERNEL_CHUNK], low[KERNEL_CHUNK], high[KERNEL_CHUNK];                               \
        (void)op;                                                                                  \
        elementwise_load_##as(y, chunk, 0);                                                        \
        elementwise_load_##as(low, chunk, 1);                                                      \
        elementwise_load_##as(high, chunk, 2);                                                     \
        for (int64_t i = 0; i < chunk->n; i++) {                                                   \
            y[i] = y[i] > low[i] || y[i] != y[i] ? y[i] : low[i];                                  \
            y[i] = y[i] < high[i] || y[i] != y[i] ? y[i] : high[i];                                \
        }                                                                                          \
        elementwise_store_##as(chunk, 3, y);                                                       \
    }
KERNEL_CLASSES(CLIP)
#define CLIP_OF(as) clip_##as

skrt_kernel_fn clip_by_value;

void clip_by_value(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    if (!kernel_open(&kernel, core, args_offset, 4, false))
        return;
    elementwise_run(&kernel, 3, KERNEL_OF(kernel.tensors[0].dtype, CLIP_OF), NULL,
                    skrt_block_idx(core), skrt_block_num(core));
}
