/* y, as many as there are, are the parts of x along an axis, one behind the other: an attribute
 * (SplitD, SplitVD), or an operand (SplitV, whose second one says how long they are). Those of
 * Unpack are one long, and do not have the axis. */
#include "backend/kernels/ints.h"

enum { split_d_operands = 1, split_v_d_operands = 1, split_v_operands = 3, unpack_operands = 1 };
enum { split_d_unpacks = 0, split_v_d_unpacks = 0, split_v_unpacks = 0, unpack_unpacks = 1 };
enum { SPLIT_X, SPLIT_Y = SAMPLE_OWN(_operands) };

struct split {
    struct kernel kernel;
    uint32_t dim, parts;
    int64_t row, unit, bytes; /* as those of concat.c, of x */
};

/* The length of a part along the axis. */
static int64_t split_length(const struct split *op, uint32_t part)
{
    return SAMPLE_OWN(_unpacks) ? 1 : op->kernel.tensors[SPLIT_Y + part].dims[op->dim];
}

/* Whether the operand of SplitV says lengths that the results have; -1 is what is left. */
static bool split_lengths(const struct split *op)
{
    struct ints lengths;
    if (!ints_of_operand(&lengths, &op->kernel, 1))
        return false;
    for (uint32_t i = 0; i < op->parts; i++)
        if (lengths.at[i] != -1 && lengths.at[i] != split_length(op, i))
            return false;
    return true;
}

static bool split_open(struct split *op, const skrt_core *core, uint64_t args_offset)
{
    if (!kernel_open_results(&op->kernel, core, args_offset, SPLIT_Y))
        return false;
    const struct skrt_tensor *x = &op->kernel.tensors[SPLIT_X];
    op->parts = op->kernel.tiling->n_tensors - SPLIT_Y;
    op->bytes = kernel_dtype_size(x->dtype);
    if (!ints_axis_of(&op->kernel, SPLIT_Y == 3 ? 2 : 0,
                      SAMPLE_OWN(_unpacks) ? "axis" : "split_dim", x->rank, &op->dim) ||
        (SPLIT_Y == 3 && !split_lengths(op)))
        return false;
    op->unit = kernel_product(x, op->dim + 1, x->rank);
    op->row = x->dims[op->dim] * op->unit;
    int64_t sum = 0;
    for (uint32_t i = 0; i < op->parts; i++)
        sum += split_length(op, i);
    return sum == x->dims[op->dim];
}

/* The row is one of x. */
static void split_row(const struct split *op, struct kernel_row row)
{
    const char *x = (const char *)kernel_slot(&op->kernel, SPLIT_X) + row.n * op->row * op->bytes;
    int64_t first = 0;
    for (uint32_t i = 0; i < op->parts; i++) {
        int64_t size = split_length(op, i) * op->unit;
        int64_t from = row.begin > first ? row.begin : first;
        int64_t to = kernel_min(row.end, first + size);
        char *piece = (char *)kernel_result(&op->kernel, SPLIT_Y, i) + row.n * size * op->bytes;
        if (from < to)
            memcpy(piece + (from - first) * op->bytes, x + from * op->bytes,
                   (size_t)((to - from) * op->bytes));
        first += size;
    }
}

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct split op;
    if (!split_open(&op, core, args_offset) || op.row == 0)
        return;
    struct kernel_range left =
        kernel_block_range(core, kernel_elements(&op.kernel.tensors[SPLIT_X]));
    for (struct kernel_row row; kernel_next_row(&left, op.row, &row);)
        split_row(&op, row);
}
