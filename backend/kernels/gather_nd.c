/* y = what indices name of x: an element each along an axis (GatherElements), or slices by rows of
 * indices (GatherNd). Where x has no such place, y is left alone. */
#include "backend/kernels/indexing.h"

enum { X, INDICES, Y, TENSORS };

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    enum { gather_elements_by_rows = 0, gather_nd_by_rows = 1 };
    struct kernel kernel;
    struct indexing indexing;
    if (!kernel_open(&kernel, core, args_offset, TENSORS, false))
        return;
    const struct skrt_tensor *x = &kernel.tensors[X], *y = &kernel.tensors[Y];
    bool by_rows = SAMPLE_OWN(_by_rows);
    bool negative = !by_rows || kernel_flag(&kernel, "negative_index_support", false);
    int64_t axis = by_rows ? INDEXING_ROWS : kernel_int(&kernel, "dim", 0);
    int64_t size = kernel_dtype_size(x->dtype);
    indexing_open(&indexing, &kernel, INDICES, x, axis, negative);
    struct kernel_range left = kernel_block_range(core, kernel_elements(y));
    for (struct kernel_row row; kernel_next_row(&left, indexing.length, &row);) {
        int64_t from = indexing_offset(&indexing, row.n);
        if (from >= 0)
            memcpy((char *)kernel_slot(&kernel, Y) + (row.n * indexing.length + row.begin) * size,
                   (const char *)kernel_slot(&kernel, X) + (from + row.begin) * size,
                   (size_t)((row.end - row.begin) * size));
    }
}
