/* ConcatD: y = the tensors of a list, one behind the other along `concat_dim` (0 when absent).
 *
 * y is rows, each of which has a piece of every tensor in turn; a block copies a contiguous range
 * of its elements. */
#include "backend/kernels/kernel.h"

enum { CONCAT_X, CONCAT_Y, CONCAT_TENSORS };

struct concat {
    struct kernel kernel;
    int64_t row;  /* elements of y for each element of the dimensions before `concat_dim` */
    int64_t unit; /* elements behind it */
    uint32_t dim;
    int64_t bytes; /* of an element */
};

static bool concat_open(struct concat *op, const skrt_core *core, uint64_t args_offset)
{
    if (!kernel_open(&op->kernel, core, args_offset, CONCAT_TENSORS, false))
        return false;
    const struct skrt_tensor *x = &op->kernel.tensors[CONCAT_X], *y = x + 1;
    const struct skrt_attr *attr = kernel_attr(&op->kernel, "concat_dim");
    int64_t dim = attr ? attr->i : 0;
    dim += dim < 0 ? y->rank : 0;
    op->bytes = kernel_dtype_size(y->dtype);
    if (x->form != SKRT_LIST || dim < 0 || dim >= y->rank || op->bytes == 0)
        return false;
    op->dim = (uint32_t)dim;
    op->unit = kernel_product(y, op->dim + 1, y->rank);
    op->row = y->dims[dim] * op->unit;
    int64_t sum = 0;
    for (uint64_t i = 0; i < x->count; i++) {
        if (x->list[i].rank != y->rank || x->list[i].dtype != y->dtype)
            return false;
        sum += x->list[i].dims[dim];
    }
    return sum == y->dims[dim];
}

/* Copies the elements [begin, end) of row `row`. */
static void concat_row(const struct concat *op, int64_t row, int64_t begin, int64_t end)
{
    const struct skrt_tensor *x = &op->kernel.tensors[CONCAT_X];
    char *y = (char *)kernel_slot(&op->kernel, CONCAT_Y) + row * op->row * op->bytes;
    int64_t first = 0;
    for (uint32_t i = 0; i < x->count; i++) {
        int64_t size = x->list[i].dims[op->dim] * op->unit;
        int64_t from = begin > first ? begin : first;
        int64_t to = kernel_min(end, first + size);
        const char *piece = (const char *)kernel_listed(&op->kernel, CONCAT_X, i) +
                            (row * size - first) * op->bytes;
        if (from < to)
            memcpy(y + from * op->bytes, piece + from * op->bytes,
                   (size_t)((to - from) * op->bytes));
        first += size;
    }
}

skrt_kernel_fn concat_d;

void concat_d(skrt_core *core, uint64_t args_offset)
{
    struct concat op;
    if (!concat_open(&op, core, args_offset) || op.row == 0)
        return;
    struct kernel_range range =
        kernel_block_range(core, kernel_elements(&op.kernel.tensors[CONCAT_Y]));
    for (int64_t at = range.begin; at < range.end;) {
        int64_t row = at / op.row, end = kernel_min(range.end, (row + 1) * op.row);
        concat_row(&op, row, at - row * op.row, end - row * op.row);
        at = end;
    }
}
