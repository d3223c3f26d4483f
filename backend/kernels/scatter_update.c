/* ScatterUpdate: along `axis`, slice indices[i] of var becomes slice i of updates, in place. */
#include "backend/kernels/kernel.h"

enum { VAR, INDICES, UPDATES, TENSORS = 4 };

/* Tensors as [outer, slices, inner]. */
struct scatter {
    struct kernel kernel;
    int64_t slices, updates; /* of var, and how many are updated */
    int64_t outer, inner, element;
};

static bool scatter_open(struct scatter *op, const skrt_core *core, uint64_t args_offset)
{
    if (!kernel_open(&op->kernel, core, args_offset, TENSORS, false))
        return false;
    const struct skrt_tensor *var = &op->kernel.tensors[VAR];
    const struct skrt_tensor *updates = &op->kernel.tensors[UPDATES];
    uint32_t axis;
    kernel_axis(kernel_int(&op->kernel, "axis", 0), var->rank, &axis);
    op->slices = var->dims[axis];
    op->updates = updates->dims[axis];
    op->outer = kernel_product(var, 0, axis);
    op->inner = kernel_product(var, axis + 1, var->rank);
    op->element = kernel_dtype_size(var->dtype);
    return true;
}

/* Updates elements of each slice of one outer index, the row's. Of several updates of one slice the
 * last one stays. */
static void scatter_part(const struct scatter *op, struct kernel_row row)
{
    char *var = kernel_slot(&op->kernel, VAR);
    const char *updates = kernel_slot(&op->kernel, UPDATES);
    for (int64_t i = 0; i < op->updates; i++) {
        int64_t slice;
        kernel_load_i64(&slice, kernel_slot(&op->kernel, INDICES),
                        op->kernel.tensors[INDICES].dtype, i, 1);
        if (slice < 0 || slice >= op->slices)
            continue;
        memmove(var + ((row.n * op->slices + slice) * op->inner + row.begin) * op->element,
                updates + ((row.n * op->updates + i) * op->inner + row.begin) * op->element,
                (size_t)((row.end - row.begin) * op->element));
    }
}

skrt_kernel_fn scatter_update;

void scatter_update(skrt_core *core, uint64_t args_offset)
{
    struct scatter op;
    if (!scatter_open(&op, core, args_offset))
        return;
    struct kernel_range left = kernel_block_range(core, op.outer * op.inner);
    for (struct kernel_row row; kernel_next_row(&left, op.inner, &row);)
        scatter_part(&op, row);
}
