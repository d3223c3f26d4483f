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

static void blocks_open(struct blocks *op, const struct kernel *kernel)
{
    const struct skrt_tensor *x = &kernel->tensors[0];
    op->side = kernel_int(kernel, "block_size", 0);
    op->last = strcmp(kernel_text(kernel, "data_format", "NHWC"), "NCHW") != 0;
    op->by_channel = strcmp(kernel_text(kernel, "mode", "DCR"), "CRD") == 0;
    op->images = x->dims[0];
    op->rows = x->dims[op->last ? 1 : 2];
    op->columns = x->dims[op->last ? 2 : 3];
    op->channels = x->dims[op->last ? 3 : 1];
    if (SAMPLE_OWN(_deep)) {
        op->channels /= op->side * op->side;
    } else {
        op->rows /= op->side;
        op->columns /= op->side;
    }
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
    if (!kernel_open(&kernel, core, args_offset, 2, false))
        return;
    blocks_open(&op, &kernel);
    blocks_plan(&op);
    strided_copy(&kernel, core, 0, 1, &op.strided);
}
