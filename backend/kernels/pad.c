/* y = x with elements before and behind it along each axis, as many as an operand says: zeros
 * (Pad), a value (PadV2), or as `mode` says (PadV3, MirrorPad): a value, x mirrored, without its
 * edge or with it, or its nearest element. */
#include "backend/kernels/ints.h"

enum { pad_operands = 2, pad_v2_operands = 3, pad_v3_operands = 3, mirror_pad_operands = 2 };

enum pad_mode { PAD_CONSTANT, PAD_REFLECT, PAD_SYMMETRIC, PAD_EDGE };

struct pad {
    struct kernel kernel;
    uint32_t y;
    enum pad_mode mode;
    int64_t before[SKRT_MAX_RANK], size;
    char value[8];
};

/* What the attribute says, by its first letter. */
static enum pad_mode pad_mode_of(const struct kernel *kernel)
{
    char first = (char)(kernel_text(kernel, "mode", "constant")[0] | 0x20);
    return first == 'r'   ? PAD_REFLECT
           : first == 's' ? PAD_SYMMETRIC
           : first == 'e' ? PAD_EDGE
                          : PAD_CONSTANT;
}

/* Whether y has room for x and this much, and x something to take where it is not a value. */
static bool pad_axis(const struct pad *op, uint32_t axis, int64_t before, int64_t behind)
{
    int64_t x = op->kernel.tensors[0].dims[axis], y = op->kernel.tensors[op->y].dims[axis];
    if (before < 0 || behind < 0 || before > y || behind != y - before - x)
        return false;
    if (op->mode == PAD_CONSTANT || before + behind == 0)
        return true;
    int64_t most = op->mode == PAD_SYMMETRIC ? x : x - 1;
    return op->mode == PAD_EDGE ? x > 0 : before <= most && behind <= most;
}

static bool pad_open(struct pad *op, const skrt_core *core, uint64_t args_offset)
{
    struct ints all;
    memset(op, 0, sizeof *op);
    op->y = SAMPLE_OWN(_operands);
    if (!kernel_open(&op->kernel, core, args_offset, op->y + 1, false) ||
        !ints_of_operand(&all, &op->kernel, 1))
        return false;
    const struct skrt_tensor *x = &op->kernel.tensors[0];
    op->mode = pad_mode_of(&op->kernel);
    bool pairs = kernel_flag(&op->kernel, "paddings_contiguous", true);
    op->size = kernel_dtype_size(x->dtype);
    for (uint32_t i = 0; i < x->rank; i++) {
        op->before[i] = all.at[pairs ? 2 * i : i];
        if (!pad_axis(op, i, op->before[i], all.at[pairs ? 2 * i + 1 : x->rank + i]))
            return false;
    }
    if (op->y == 3 && op->kernel.tensors[2].form == SKRT_TENSOR)
        memcpy(op->value, kernel_slot(&op->kernel, 2), (size_t)op->size);
    return true;
}

/* The place in x of element `at` of y along an axis; -1 outside. */
static int64_t pad_place(const struct pad *op, uint32_t axis, int64_t at)
{
    int64_t dim = op->kernel.tensors[0].dims[axis], place = at - op->before[axis];
    if (place >= 0 && place < dim)
        return place;
    if (op->mode == PAD_CONSTANT)
        return -1;
    if (op->mode == PAD_EDGE)
        return place < 0 ? 0 : dim - 1;
    int64_t edge = op->mode == PAD_SYMMETRIC;
    return place < 0 ? -place - edge : 2 * (dim - 1) - place + edge;
}

/* Where element `position` of y comes from: an element of x, or -1. */
static int64_t pad_source(const struct pad *op, int64_t position)
{
    const struct skrt_tensor *x = &op->kernel.tensors[0], *y = &op->kernel.tensors[op->y];
    int64_t from = 0, stride = 1;
    for (uint32_t axis = y->rank; axis-- > 0; position /= y->dims[axis]) {
        int64_t place = pad_place(op, axis, position % y->dims[axis]);
        if (place < 0)
            return -1;
        from += place * stride;
        stride *= x->dims[axis];
    }
    return from;
}

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct pad op;
    if (!pad_open(&op, core, args_offset))
        return;
    const char *x = kernel_slot(&op.kernel, 0);
    char *y = kernel_slot(&op.kernel, op.y);
    struct kernel_range range = kernel_block_range(core, kernel_elements(&op.kernel.tensors[op.y]));
    for (int64_t position = range.begin; position < range.end; position++) {
        int64_t from = pad_source(&op, position);
        memcpy(y + position * op.size, from < 0 ? op.value : x + from * op.size, (size_t)op.size);
    }
}
