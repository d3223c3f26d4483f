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

static bool quant_open(struct quant *op, const skrt_core *core, uint64_t args_offset)
{
    const struct kernel *kernel = &op->kernel;
    uint32_t axis;
    if (!kernel_open(&op->kernel, core, args_offset, TENSORS, false))
        return false;
    const struct skrt_tensor *x = &kernel->tensors[X];
    op->scale = kernel_float(kernel, "scale", 0);
    op->offset = kernel_float(kernel, "offset", 0);
    op->twice = kernel_flag(kernel, "sqrt_mode", false);
    op->round = quantise_round(kernel, "round_mode");
    if (!LISTED)
        return true;
    if (!kernel_axis(kernel_int(kernel, "axis", -1), x->rank, &axis))
        return false;
    op->length = x->dims[axis];
    op->inner = kernel_product(x, axis + 1, x->rank);
    return true;
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
