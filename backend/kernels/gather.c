/* y = the places of x along an axis that indices name. The axis is an operand (GatherV2), or else
 * the first behind the axes that x and indices share: batch_dims many. An index that x does not
 * have leaves its part of y alone. */
#include "backend/kernels/ints.h"

enum { gather_operands = 2, gather_v2_operands = 3 };

/* x is [batch, outer, places, inner], indices are [batch, count], y is [batch, outer, count,
 * inner]. */
struct gather {
    struct kernel kernel;
    uint32_t y;
    int64_t outer, places, inner, count, size;
    bool negative; /* indices count from the end */
};

/* Whether y is [x up to the axis, indices without the batch, x behind it]. */
static bool gather_fits(const struct gather *op, uint32_t batch, uint32_t axis)
{
    const struct skrt_tensor *x = &op->kernel.tensors[0], *indices = &op->kernel.tensors[1];
    struct skrt_tensor y = {.rank = 0};
    uint32_t rank = x->rank - 1 + indices->rank - batch;
    if (rank > SKRT_MAX_RANK)
        return false;
    for (uint32_t i = 0; i < axis; i++)
        y.dims[y.rank++] = x->dims[i];
    for (uint32_t i = batch; i < indices->rank; i++)
        y.dims[y.rank++] = indices->dims[i];
    for (uint32_t i = axis + 1; i < x->rank; i++)
        y.dims[y.rank++] = x->dims[i];
    for (uint32_t i = 0; i < batch; i++)
        if (x->dims[i] != indices->dims[i])
            return false;
    return kernel_same_dims(&y, &op->kernel.tensors[op->y]);
}

static bool gather_open(struct gather *op, const skrt_core *core, uint64_t args_offset)
{
    op->y = SAMPLE_OWN(_operands);
    if (!kernel_open(&op->kernel, core, args_offset, op->y + 1, false))
        return false;
    const struct skrt_tensor *x = &op->kernel.tensors[0], *indices = &op->kernel.tensors[1];
    struct ints ints = {1, {kernel_int(&op->kernel, "batch_dims", 0)}};
    int64_t batch = ints.at[0] + (ints.at[0] < 0 ? indices->rank : 0);
    uint32_t axis;
    ints.at[0] = batch;
    if (op->y == 3 && (!ints_of_operand(&ints, &op->kernel, 2) || ints.count != 1))
        return false;
    if (!kernel_axis(ints.at[0], x->rank, &axis) || batch < 0 || batch > axis ||
        batch > indices->rank || !gather_fits(op, (uint32_t)batch, axis))
        return false;
    op->outer = kernel_product(x, (uint32_t)batch, axis);
    op->places = x->dims[axis];
    op->inner = kernel_product(x, axis + 1, x->rank);
    op->count = kernel_product(indices, (uint32_t)batch, indices->rank);
    op->size = kernel_dtype_size(x->dtype);
    op->negative = kernel_flag(&op->kernel, "negative_index_support", false);
    return op->size != 0 && x->dtype == op->kernel.tensors[op->y].dtype &&
           (indices->dtype == SKRT_i32 || indices->dtype == SKRT_i64);
}

/* The row is one of y's rows of `inner` elements. */
static void gather_row(const struct gather *op, struct kernel_row row)
{
    int64_t block = row.n / op->count, batch = block / op->outer, place;
    kernel_load_i64(&place, kernel_slot(&op->kernel, 1), op->kernel.tensors[1].dtype,
                    batch * op->count + row.n % op->count, 1);
    place += place < 0 && op->negative ? op->places : 0;
    if (place < 0 || place >= op->places)
        return;
    memcpy((char *)kernel_slot(&op->kernel, op->y) + (row.n * op->inner + row.begin) * op->size,
           (const char *)kernel_slot(&op->kernel, 0) +
               ((block * op->places + place) * op->inner + row.begin) * op->size,
           (size_t)((row.end - row.begin) * op->size));
}

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct gather op;
    if (!gather_open(&op, core, args_offset))
        return;
    struct kernel_range left = kernel_block_range(core, kernel_elements(&op.kernel.tensors[op.y]));
    for (struct kernel_row row; kernel_next_row(&left, op.inner, &row);)
        gather_row(&op, row);
}
