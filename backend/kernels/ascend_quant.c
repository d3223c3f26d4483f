/* AscendQuant: y = x * scale + offset, with numbers for scale and offset, and AscendQuantV2, whose
 * scale and offset are tensors: of one element, or of one for each place along `axis`. With
 * `sqrt_mode` x is multiplied by scale twice. In f32; y is rounded as `round_mode` says. */
#include "backend/kernels/quantise.h"

enum { ascend_quant_listed = 0, ascend_quant_v2_listed = 1 };
enum { LISTED = SAMPLE_OWN(_listed), X = 0, SCALE, OFFSET, Y = 1 + 2 * LISTED, TENSORS };

struct quant {
    struct kernel kernel;
    int64_t length, inner; /* of the axis, and elements behind it */
    float scale, offset;   /* where they are attributes */
    bool twice;
    enum quantise_round round;
};

static float quant_number(const struct kernel *kernel, const char *key)
{
    const struct skrt_attr *attr = kernel_attr(kernel, key);
    return attr != NULL ? (float)attr->f : 0;
}

static bool quant_fits(const struct quant *op, unsigned tensor)
{
    int64_t n = kernel_elements(&op->kernel.tensors[tensor]);
    return n == 1 || n == op->length;
}

static bool quant_open_listed(struct quant *op)
{
    const struct skrt_tensor *x = &op->kernel.tensors[X];
    const struct skrt_attr *attr = kernel_attr(&op->kernel, "axis");
    int64_t axis = attr != NULL ? attr->i : -1;
    axis += axis < 0 ? x->rank : 0;
    if (axis < 0 || axis >= x->rank)
        return false;
    op->length = x->dims[axis];
    op->inner = kernel_product(x, (uint32_t)axis + 1, x->rank);
    return quant_fits(op, SCALE) &&
           (op->kernel.tensors[OFFSET].form == SKRT_ABSENT || quant_fits(op, OFFSET));
}

static bool quant_open(struct quant *op, const skrt_core *core, uint64_t args_offset)
{
    const struct kernel *kernel = &op->kernel;
    if (!kernel_open(&op->kernel, core, args_offset, TENSORS, false) ||
        !kernel_same_dims(&kernel->tensors[X], &kernel->tensors[Y]) ||
        kernel->tensors[Y].dtype != SKRT_i8)
        return false;
    op->scale = quant_number(kernel, "scale");
    op->offset = quant_number(kernel, "offset");
    op->twice = kernel_flag(kernel, "sqrt_mode", false);
    op->round = quantise_round(kernel, "round_mode");
    return !LISTED || quant_open_listed(op);
}

/* Scale or offset for an element of x. */
static float quant_param(const struct quant *op, unsigned tensor, int64_t at, float otherwise)
{
    const struct skrt_tensor *listed = &op->kernel.tensors[tensor];
    float value = otherwise;
    if (LISTED && listed->form != SKRT_ABSENT)
        kernel_load_f32(&value, kernel_slot(&op->kernel, tensor), listed->dtype,
                        kernel_elements(listed) == 1 ? 0 : at / op->inner % op->length, 1);
    return value;
}

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct quant op;
    if (!quant_open(&op, core, args_offset))
        return;
    int8_t *y = kernel_slot(&op.kernel, Y);
    struct kernel_range range = kernel_block_range(core, kernel_elements(&op.kernel.tensors[X]));
    for (int64_t at = range.begin; at < range.end; at += KERNEL_CHUNK) {
        float x[KERNEL_CHUNK];
        int64_t n = kernel_min(KERNEL_CHUNK, range.end - at);
        kernel_load_f32(x, kernel_slot(&op.kernel, X), op.kernel.tensors[X].dtype, at, n);
        for (int64_t i = 0; i < n; i++) {
            float scale = quant_param(&op, SCALE, at + i, op.scale);
            float scaled = x[i] * scale * (op.twice ? scale : 1);
            y[at + i] = quantise_i8(scaled + quant_param(&op, OFFSET, at + i, op.offset), op.round);
        }
    }
}
