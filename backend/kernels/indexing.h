/* Tensors of indices that name places of another tensor: its elements along one axis, or slices of
 * it by rows of indices. Negative ones count from the end, where the op has that. */
#ifndef BACKEND_KERNELS_INDEXING_H
#define BACKEND_KERNELS_INDEXING_H

#include "backend/kernels/kernel.h"

struct indexing {
    const struct kernel *kernel;
    unsigned slot;                    /* of the indices */
    const struct skrt_tensor *tensor; /* whose places they name */
    bool by_rows, negative;
    uint32_t axis;  /* the one axis, or how many the rows name */
    int64_t count;  /* of places */
    int64_t length; /* elements at each */
};

/* Rows of places if `axis` is negative beyond any, else places along that axis, which may count
 * from the end. */
enum { INDEXING_ROWS = INT32_MIN };

static inline void indexing_open(struct indexing *indexing, const struct kernel *kernel,
                                 unsigned slot, const struct skrt_tensor *tensor, int64_t axis,
                                 bool negative)
{
    const struct skrt_tensor *indices = &kernel->tensors[slot];
    *indexing = (struct indexing){kernel, slot, tensor, .negative = negative, .length = 1};
    indexing->by_rows = axis == INDEXING_ROWS;
    int64_t named = indexing->by_rows ? indices->dims[indices->rank - 1]
                    : axis < 0        ? axis + tensor->rank
                                      : axis;
    indexing->axis = (uint32_t)named;
    indexing->count = kernel_product(indices, 0, indices->rank - indexing->by_rows);
    if (indexing->by_rows)
        indexing->length = kernel_product(tensor, indexing->axis, tensor->rank);
}

/* Index `n`, which names a place along an axis of so many; -1 where there is none such. */
static inline int64_t indexing_index(const struct indexing *indexing, int64_t n, int64_t dim)
{
    int64_t index;
    kernel_load_i64(&index, kernel_slot(indexing->kernel, indexing->slot),
                    indexing->kernel->tensors[indexing->slot].dtype, n, 1);
    index += index < 0 && indexing->negative ? dim : 0;
    return index >= 0 && index < dim ? index : -1;
}

/* Where the elements of place `n` begin in the tensor; -1 where it has no such place. */
static inline int64_t indexing_offset(const struct indexing *indexing, int64_t n)
{
    const struct skrt_tensor *tensor = indexing->tensor;
    int64_t offset = 0;
    for (uint32_t i = 0; indexing->by_rows && i < indexing->axis; i++) {
        int64_t at = indexing_index(indexing, n * indexing->axis + i, tensor->dims[i]);
        if (at < 0)
            return -1;
        offset += at * kernel_product(tensor, i + 1, tensor->rank);
    }
    const struct skrt_tensor *indices = &indexing->kernel->tensors[indexing->slot];
    int64_t stride = 1;
    for (uint32_t i = indexing->by_rows ? 0 : tensor->rank; i-- > 0; stride *= tensor->dims[i]) {
        int64_t after = kernel_product(indices, i + 1, indices->rank);
        int64_t at = n / after % indices->dims[i];
        at = i == indexing->axis ? indexing_index(indexing, n, tensor->dims[i]) : at;
        if (at < 0)
            return -1;
        offset += at * stride;
    }
    return offset;
}

#endif
