/* LRN: y = x / (bias + alpha * sum)^beta, where sum is that of the squares of x at most
 * `depth_radius` places before and after along the last axis, from the first to the last. */
#include "backend/kernels/elementary.h"
#include "backend/kernels/kernel.h"

enum { X, Y, TENSORS };

struct lrn {
    struct kernel kernel;
    int64_t length, radius;
    float bias, alpha, beta;
};

static float lrn_element(const struct lrn *op, int64_t row, int64_t at)
{
    const struct skrt_tensor *x = &op->kernel.tensors[X];
    int64_t first = at < op->radius ? 0 : at - op->radius;
    int64_t last = op->length - 1 - at < op->radius ? op->length - 1 : at + op->radius;
    float sum = 0, value, power;
    for (int64_t i = first; i <= last; i++) {
        kernel_load_f32(&value, kernel_slot(&op->kernel, X), x->dtype, row * op->length + i, 1);
        sum += value * value;
    }
    sum = op->bias + op->alpha * sum;
    elementary_pow(&power, &sum, &op->beta, 1);
    kernel_load_f32(&value, kernel_slot(&op->kernel, X), x->dtype, row * op->length + at, 1);
    return value / power;
}

skrt_kernel_fn lrn;

void lrn(skrt_core *core, uint64_t args_offset)
{
    struct lrn op;
    if (!kernel_open(&op.kernel, core, args_offset, TENSORS, false))
        return;
    const struct skrt_tensor *x = &op.kernel.tensors[X], *y = &op.kernel.tensors[Y];
    op.length = x->dims[x->rank - 1];
    op.radius = kernel_int(&op.kernel, "depth_radius", 5);
    op.bias = kernel_float(&op.kernel, "bias", 1);
    op.alpha = kernel_float(&op.kernel, "alpha", 1);
    op.beta = kernel_float(&op.kernel, "beta", 0.5);
    struct kernel_range range = kernel_block_range(core, kernel_elements(y));
    for (int64_t at = range.begin; at < range.end; at++) {
        float value = lrn_element(&op, at / op.length, at % op.length);
        kernel_store_f32(kernel_slot(&op.kernel, Y), y->dtype, at, &value, 1);
    }
}
