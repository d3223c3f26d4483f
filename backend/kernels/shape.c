/* y = the dimensions of x (Shape), how many they are (Rank), or how many elements there are
 * (Size). */
#include "backend/kernels/kernel.h"

#define shape_numbers(x, to) (memcpy(to, (x)->dims, sizeof(x)->dims[0] * (x)->rank), (x)->rank)
#define size_numbers(x, to) (*(to) = kernel_elements(x), 1)
#define rank_numbers(x, to) (*(to) = (x)->rank, 1)

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    int64_t numbers[SKRT_MAX_RANK];
    if (!kernel_open(&kernel, core, args_offset, 2, false))
        return;
    int64_t count = SAMPLE_OWN(_numbers)(&kernel.tensors[0], numbers);
    struct kernel_range range = kernel_block_range(core, count);
    if (kernel_elements(&kernel.tensors[1]) == count)
        kernel_store_i64(kernel_slot(&kernel, 1), kernel.tensors[1].dtype, range.begin,
                         numbers + range.begin, range.end - range.begin);
}
