/* LayerNorm: y = (x - mean) / sqrt(variance + epsilon) * gamma + beta over the dimensions from
 * `begin_norm_axis` on; gamma and beta have those from `begin_params_axis` on. Mean and variance,
 * of the differences to the mean, are f32 sums in eight lanes. LayerNormV3 gives 1 / sqrt(variance
 * + epsilon) in place of the variance, and so does LayerNormV4, of which an operand says how many
 * dimensions are normed, and gamma and beta may be absent. */
#include "backend/kernels/kernel.h"

#include <math.h>

enum { layer_norm_version = 1, layer_norm_v3_version = 3, layer_norm_v4_version = 4 };
enum { VERSION = SAMPLE_OWN(_version), SHAPED = VERSION == 4 };
enum { X, GAMMA = 1 + SHAPED, BETA, Y, MEAN, VARIANCE, TENSORS };

struct layer_norm {
    struct kernel kernel;
    int64_t n, params; /* elements of a row, and of gamma and of beta */
    float epsilon;
};

static bool layer_norm_open(struct layer_norm *op, const skrt_core *core, uint64_t args_offset)
{
    const struct kernel *kernel = &op->kernel;
    if (!kernel_open(&op->kernel, core, args_offset, TENSORS, false))
        return false;
    const struct skrt_tensor *x = &kernel->tensors[X];
    int64_t norm = kernel_int(kernel, "begin_norm_axis", 0);
    int64_t params = kernel_int(kernel, "begin_params_axis", 0);
    norm += norm < 0 ? x->rank : 0;
    params += params < 0 ? x->rank : 0;
    if (SHAPED)
        norm = params = x->rank - kernel_elements(&kernel->tensors[1]);
    op->n = kernel_product(x, (uint32_t)norm, x->rank);
    op->params = kernel_product(x, (uint32_t)params, x->rank);
    op->epsilon = kernel_float(kernel, "epsilon", VERSION == 1 ? 1e-7 : 1e-5);
    return true;
}

static void layer_norm_load(const struct layer_norm *op, float *to, unsigned tensor, int64_t offset,
                            int64_t n)
{
    kernel_load_f32(to, kernel_slot(&op->kernel, tensor), op->kernel.tensors[tensor].dtype, offset,
                    n);
}

/* Those of gamma or beta, or one number where it is absent. */
static void layer_norm_param(const struct layer_norm *op, float *to, unsigned tensor,
                             int64_t offset, int64_t n, float otherwise)
{
    bool absent = op->kernel.tensors[tensor].form == SKRT_ABSENT;
    if (!absent)
        layer_norm_load(op, to, tensor, offset, n);
    for (int64_t i = 0; absent && i < n; i++)
        to[i] = otherwise;
}

/* The mean of x - shift, or of its square. */
static float layer_norm_mean(const struct layer_norm *op, int64_t offset, float shift, bool squares)
{
    struct kernel_sum sum = {{0}};
    for (int64_t at = 0; at < op->n; at += KERNEL_CHUNK) {
        float x[KERNEL_CHUNK];
        int64_t n = kernel_min(KERNEL_CHUNK, op->n - at);
        layer_norm_load(op, x, X, offset + at, n);
        for (int64_t i = 0; i < n; i++) {
            x[i] -= shift;
            x[i] *= squares ? x[i] : 1;
        }
        kernel_sum_add(&sum, x, n);
    }
    return kernel_sum_total(&sum) / (float)op->n;
}

/* Parameters repeat from one element of y to the next, in chunks that do not go beyond them. */
static void layer_norm_scale(const struct layer_norm *op, int64_t offset, float mean, float rstd)
{
    for (int64_t at = offset, n; at < offset + op->n; at += n) {
        float x[KERNEL_CHUNK], gamma[KERNEL_CHUNK], beta[KERNEL_CHUNK];
        int64_t param = at % op->params;
        n = kernel_min(kernel_min(KERNEL_CHUNK, offset + op->n - at), op->params - param);
        layer_norm_load(op, x, X, at, n);
        layer_norm_param(op, gamma, GAMMA, param, n, 1);
        layer_norm_param(op, beta, BETA, param, n, 0);
        for (int64_t i = 0; i < n; i++)
            x[i] = (x[i] - mean) * rstd * gamma[i] + beta[i];
        kernel_store_f32(kernel_slot(&op->kernel, Y), op->kernel.tensors[Y].dtype, at, x, n);
    }
}

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct layer_norm op;
    if (!layer_norm_open(&op, core, args_offset))
        return;
    const struct kernel *kernel = &op.kernel;
    struct kernel_range range = kernel_block_range(core, kernel_elements(&kernel->tensors[MEAN]));
    for (int64_t row = range.begin; row < range.end; row++) {
        float mean = layer_norm_mean(&op, row * op.n, 0, false);
        float variance = layer_norm_mean(&op, row * op.n, mean, true);
        float rstd = 1 / sqrtf(variance + op.epsilon), last = VERSION == 1 ? variance : rstd;
        layer_norm_scale(&op, row * op.n, mean, rstd);
        kernel_store_f32(kernel_slot(kernel, MEAN), kernel->tensors[MEAN].dtype, row, &mean, 1);
        kernel_store_f32(kernel_slot(kernel, VARIANCE), kernel->tensors[VARIANCE].dtype, row, &last,
                         1);
    }
}
