/* GroupedMatmul: one product for each group, y[rows of the group] = x * weight. The groups are the
 * tensors of the list x, or the rows of its one tensor that group_list says: where each group ends,
 * or (`group_list_type` 1) how many rows it has. weight is a list of one matrix a group, or of one
 * tensor with all; bias, which may be empty, likewise of rows. There is a result for each group, or
 * one with all rows, where those behind the last group are 0. */
#include "backend/kernels/product.h"

enum { X, WEIGHT, BIAS, GROUP_LIST = 7, Y = 9 };

struct grouped {
    struct kernel kernel;
    int64_t groups, results;
    int64_t rows; /* of x, where it has one tensor; else of the result with all */
};

static const struct skrt_tensor *grouped_list(const struct grouped *op, unsigned slot)
{
    return &op->kernel.tensors[slot];
}

/* Sets up a group whose rows begin with `begin`; its number of rows if x has only one tensor. */
static void grouped_product(const struct grouped *op, struct product *product, int64_t group,
                            int64_t begin, int64_t rows)
{
    const struct kernel *kernel = &op->kernel;
    const struct skrt_tensor *x = grouped_list(op, X), *w = grouped_list(op, WEIGHT);
    const struct skrt_tensor *bias = grouped_list(op, BIAS);
    bool split = x->count > 1, listed = w->count > 1;
    uint32_t at = split ? (uint32_t)group : 0, matrix = listed ? (uint32_t)group : 0;
    memset(product, 0, sizeof *product);
    product_view_open(&product->x1, &x->list[at], kernel_listed(kernel, X, at), false);
    product_view_open(&product->x2, &w->list[matrix], kernel_listed(kernel, WEIGHT, matrix),
                      kernel_flag(kernel, "transpose_weight", false));
    product->k = product->x1.columns;
    product->n = product->x2.columns;
    product->x1.base = split ? 0 : begin * product->k;
    product->x1.rows = product->m = split ? product->x1.rows : rows;
    product->x2.base = listed ? 0 : group * product->k * product->n;
    product->result = &kernel->tensors[op->results > 1 ? Y + group : Y];
    product->result_data = kernel_result(kernel, Y, op->results > 1 ? (uint32_t)group : 0);
    product->result_base = op->results > 1 ? 0 : begin * product->n;
    if (bias->count > 0) {
        uint32_t of = bias->count > 1 ? (uint32_t)group : 0;
        product->bias = &bias->list[of];
        product->bias_data = kernel_listed(kernel, BIAS, of);
        product->bias_base = bias->count > 1 ? 0 : group * product->n;
    }
}

/* The rows of a group, where x has one tensor: -1 if the list is wrong. */
static int64_t grouped_rows(const struct grouped *op, int64_t group, int64_t begin)
{
    const struct skrt_attr *type = kernel_attr(&op->kernel, "group_list_type");
    const int64_t *listed = kernel_slot(&op->kernel, GROUP_LIST);
    if (grouped_list(op, X)->count > 1)
        return grouped_list(op, X)->list[group].dims[0];
    if (op->kernel.tensors[GROUP_LIST].form == SKRT_ABSENT)
        return op->rows;
    int64_t rows = type != NULL && type->i == 1 ? listed[group] : listed[group] - begin;
    return rows >= 0 && rows <= op->rows - begin ? rows : -1;
}

/* Whether the rows that group_list says are there, and those that each group's result has. */
static bool grouped_fits(const struct grouped *op)
{
    int64_t begin = 0;
    for (int64_t group = 0, rows; group < op->groups; group++, begin += rows) {
        rows = grouped_rows(op, group, begin);
        if (rows < 0 || (op->results > 1 && rows != op->kernel.tensors[Y + group].dims[0]))
            return false;
    }
    return op->results > 1 || begin <= op->rows;
}

static bool grouped_open(struct grouped *op, const skrt_core *core, uint64_t args_offset)
{
    if (!kernel_open_results(&op->kernel, core, args_offset, Y))
        return false;
    const struct skrt_tensor *x = grouped_list(op, X), *w = grouped_list(op, WEIGHT);
    op->results = op->kernel.tiling->n_tensors - Y;
    op->groups = w->count == 1 && w->list[0].rank == 3 ? w->list[0].dims[0] : (int64_t)w->count;
    op->rows = x->count == 1 ? x->list[0].dims[0] : op->kernel.tensors[Y].dims[0];
    return grouped_fits(op);
}

/* The block's part of the rows behind the last group. */
static void grouped_clear(const struct grouped *op, const skrt_core *core, int64_t end)
{
    const struct skrt_tensor *y = &op->kernel.tensors[Y];
    int64_t bytes = kernel_dtype_size(y->dtype), n = y->dims[1];
    struct kernel_range range = kernel_block_range(core, (op->rows - end) * n);
    memset((char *)kernel_result(&op->kernel, Y, 0) + (end * n + range.begin) * bytes, 0,
           (size_t)((range.end - range.begin) * bytes));
}

skrt_kernel_fn grouped_matmul;

/* A block has every so-many-th tile of all groups. */
void grouped_matmul(skrt_core *core, uint64_t args_offset)
{
    struct grouped op;
    struct product product;
    if (!grouped_open(&op, core, args_offset))
        return;
    int64_t begin = 0, before = 0, blocks = skrt_block_num(core), block = skrt_block_idx(core);
    for (int64_t group = 0; group < op.groups; group++) {
        int64_t rows = grouped_rows(&op, group, begin);
        grouped_product(&op, &product, group, begin, rows);
        int64_t tiles = product_cut(&product, blocks),
                first = (block - before % blocks + blocks) % blocks;
        for (int64_t tile = first; tile < tiles; tile += blocks)
            product_compute(&product, tile, true);
        before += tiles;
        begin += rows;
    }
    if (op.results == 1)
        grouped_clear(&op, core, begin);
}
