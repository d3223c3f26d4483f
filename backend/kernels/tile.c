/* y = x, as often as multiples say along each axis: an operand (Tile), or an attribute (TileD). */
#define SPACE_MOST (2 * SKRT_MAX_RANK) /* each axis of x may be two: times, and what it was */

#include "backend/kernels/ints.h"
#include "backend/kernels/strided.h"

enum { tile_operands = 2, tile_d_operands = 1 };

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    struct strided strided = {.offset = 0};
    struct ints times;
    uint32_t y = SAMPLE_OWN(_operands);
    if (!ints_open(&times, &kernel, core, args_offset, y, "multiples"))
        return;
    const struct skrt_tensor *from = &kernel.tensors[0], *to = &kernel.tensors[y];
    for (uint32_t i = 0; i < from->rank; i++) {
        int64_t dim;
        if (times.at[i] < 0 || __builtin_mul_overflow(from->dims[i], times.at[i], &dim) ||
            dim != to->dims[i])
            return;
        space_add(&strided.axes, times.at[i], 0);
        space_add(&strided.axes, from->dims[i], kernel_product(from, i + 1, from->rank));
    }
    strided_copy(&kernel, core, 0, y, &strided);
}
