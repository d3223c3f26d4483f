/* y = blocks of places as channels (SpaceToDepth), and back (DepthToSpace), of x with channels last
 * or second. */
#include "backend/kernels/strided.h"

enum { depth_to_space_deep = 1, space_to_depth_deep = 0 }; /* x has the channels */

/* The side of a block; rows, columns and channels of the tensor that has the places, over the
 * side; and how far apart neighbours are in x. */
struct blocks {
    int64_t side, images, rows, columns, channels;
    bool last, by_channel;
    struct strided strided;
};

static bool blocks_word(const struct kernel *kernel, const char *key, const char *word)
{
    const struct skrt_attr *attr = kernel_attr(kernel, key);
    return attr != NULL && attr->text != NULL && strcmp(attr->text, word) == 0;
}

static bool blocks_open(struct blocks *op, const struct kernel *kernel)
{
    const struct skrt_tensor *x = &kernel->tensors[0];
    op->side = kernel_int(kernel, "block_size", 0);
    op->last = !blocks_word(kernel, "data_format", "NCHW");
    op->by_channel = blocks_word(kernel, "mode", "CRD");
    if (x->rank != 4 || op->side < 1 || op->side > INT32_MAX)
        return false;
    int64_t square = op->side * op->side;
    op->images = x->dims[0];
    op->rows = x->dims[op->last ? 1 : 2];
    op->columns = x->dims[op->last ? 2 : 3];
    op->channels = x->dims[op->last ? 3 : 1];
    if (SAMPLE_OWN(_deep)) {
        bool fits = op->channels % square == 0;
        op->channels /= square;
        return fits;
    }
    bool fits = op->rows % op->side == 0 && op->columns % op->side == 0;
    op->rows /= op->side;
    op->columns /= op->side;
    return fits;
}

/* The axes of y. */
static void blocks_plan(struct blocks *op)
{
    int64_t b = op->side, c = op->channels, h = op->rows, w = op->columns, all = c * b * b;
    struct space *axes = &op->strided.axes;
    space_add(axes, op->images, h * w * all);
    if (SAMPLE_OWN(_deep)) {
        int64_t down = op->by_channel ? b : b * c, right = op->by_channel ? 1 : c;
        int64_t channel = op->by_channel ? b * b : 1, apart = op->last ? 1 : h * w;
        int64_t column = op->last ? all : 1;
        if (!op->last)
            space_add(axes, c, channel * apart);
        space_add(axes, h, w * column);
        space_add(axes, b, down * apart);
        space_add(axes, w, column);
        space_add(axes, b, right * apart);
        if (op->last)
            space_add(axes, c, channel);
        return;
    }
    int64_t column = op->last ? c : 1, row = w * b * column;
    if (op->last) {
        space_add(axes, h, b * row);
        space_add(axes, w, b * column);
    }
    space_add(axes, b, row);
    space_add(axes, b, column);
    space_add(axes, c, op->last ? 1 : h * w * b * b);
    if (!op->last) {
        space_add(axes, h, b * row);
        space_add(axes, w, b * column);
    }
}

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    struct blocks op = {.side = 0};
    if (!kernel_open(&kernel, core, args_offset, 2, false) || !blocks_open(&op, &kernel))
        return;
    int64_t more = SAMPLE_OWN(_deep) ? op.side : 1, deep = SAMPLE_OWN(_deep) ? 1 : op.side;
    int64_t places[] = {op.rows * more, op.columns * more}, channels = op.channels * deep * deep;
    struct skrt_tensor y = {.rank = 4, .dims = {op.images}};
    y.dims[op.last ? 3 : 1] = channels;
    y.dims[op.last ? 1 : 2] = places[0];
    y.dims[op.last ? 2 : 3] = places[1];
    if (!kernel_same_dims(&y, &kernel.tensors[1]))
        return;
    blocks_plan(&op);
    strided_copy(&kernel, core, 0, 1, &op.strided);
}
