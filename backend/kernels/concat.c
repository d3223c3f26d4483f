/* y = the tensors of a list, one behind the other along an axis: an attribute (ConcatD,
 * ConcatV2D), an operand (ConcatV2), or one that they do not have yet (Pack).
 *
 * y is rows, each of which has a piece of every tensor in turn; a block copies a contiguous range
 * of its elements. */
#include "backend/kernels/ints.h"

enum { concat_d_operands = 1, concat_v2_d_operands = 1, concat_v2_operands = 2, pack_operands = 1 };
enum { concat_d_new = 0, concat_v2_d_new = 0, concat_v2_new = 0, pack_new = 1 };

enum { CONCAT_X, CONCAT_Y = SAMPLE_OWN(_operands) };

struct concat {
    struct kernel kernel;
    int64_t row;  /* elements of y for each element of the dimensions before the axis */
    int64_t unit; /* elements behind it */
    uint32_t dim;
    int64_t bytes; /* of an element */
};

/* How long a tensor is along the axis. */
static int64_t concat_length(const struct concat *op, const struct skrt_tensor *x)
{
    return SAMPLE_OWN(_new) ? 1 : x->dims[op->dim];
}

static bool concat_open(struct concat *op, const skrt_core *core, uint64_t args_offset)
{
    if (!kernel_open(&op->kernel, core, args_offset, CONCAT_Y + 1, false))
        return false;
    const struct skrt_tensor *x = &op->kernel.tensors[CONCAT_X];
    const struct skrt_tensor *y = &op->kernel.tensors[CONCAT_Y];
    op->bytes = kernel_dtype_size(y->dtype);
    if (!ints_axis_of(&op->kernel, CONCAT_Y - 1, SAMPLE_OWN(_new) ? "axis" : "concat_dim", y->rank,
                      &op->dim))
        return false;
    op->unit = kernel_product(y, op->dim + 1, y->rank);
    op->row = y->dims[op->dim] * op->unit;
    int64_t sum = 0;
    for (uint64_t i = 0; i < x->count; i++)
        sum += concat_length(op, &x->list[i]);
    return sum == y->dims[op->dim];
}

static void concat_row(const struct concat *op, struct kernel_row row)
{
    const struct skrt_tensor *x = &op->kernel.tensors[CONCAT_X];
    char *y = (char *)kernel_slot(&op->kernel, CONCAT_Y) + row.n * op->row * op->bytes;
    int64_t first = 0;
    for (uint32_t i = 0; i < x->count; i++) {
        int64_t size = concat_length(op, &x->list[i]) * op->unit;
        int64_t from = row.begin > first ? row.begin : first;
        int64_t to = kernel_min(row.end, first + size);
        const char *piece = (const char *)kernel_listed(&op->kernel, CONCAT_X, i) +
                            (row.n * size - first) * op->bytes;
        if (from < to)
            memcpy(y + from * op->bytes, piece + from * op->bytes,
                   (size_t)((to - from) * op->bytes));
        first += size;
    }
}

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct concat op;
    if (!concat_open(&op, core, args_offset) || op.row == 0)
        return;
    struct kernel_range left =
        kernel_block_range(core, kernel_elements(&op.kernel.tensors[CONCAT_Y]));
    for (struct kernel_row row; kernel_next_row(&left, op.row, &row);)
        concat_row(&op, row);
}
