/* Softmax: y = exp(x - max) / sum(exp(x - max)) over the last axis, SoftmaxV2 over `axes`, and
 * LogSoftmaxV2: y = x - max - log(sum(exp(x - max))). The sum is f32, for f64 f64, of 8 lanes. */
#include "backend/kernels/axes.h"
#include "backend/kernels/exponentials.h"

#include <math.h>

enum { softmax_log = 0, softmax_v2_log = 0, log_softmax_v2_log = 1 };
enum { LOG = SAMPLE_OWN(_log), X = 0, Y, TENSORS };

struct softmax {
    struct kernel kernel;
    struct axes axes;
};

/* Elements of a line that a core keeps: of a longer one exponentials are made twice, for the sum
 * and for the result. */
enum { SOFTMAX_KEPT = 4096 };

/* The maxima of every so-many-th element; of NaN there is none. */
struct softmax_max {
    float lanes[KERNEL_LANES * 2];
};

static inline void softmax_max_add(struct softmax_max *max, const float *x, int64_t n)
{
    enum { LANES = sizeof max->lanes / sizeof max->lanes[0] };
    struct softmax_max found = *max;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int lane = 0; lane < LANES; lane++)
            found.lanes[lane] = x[i + lane] > found.lanes[lane] ? x[i + lane] : found.lanes[lane];
    for (; i < n; i++)
        found.lanes[0] = x[i] > found.lanes[0] ? x[i] : found.lanes[0];
    *max = found;
}

static inline float softmax_max_total(const struct softmax_max *max)
{
    float most = -INFINITY;
    for (size_t lane = 0; lane < sizeof max->lanes / sizeof max->lanes[0]; lane++)
        most = max->lanes[lane] > most ? max->lanes[lane] : most;
    return most;
}

static inline void softmax_load(const struct softmax *op, float *x, int64_t line, int64_t at,
                                int64_t n)
{
    axes_load_f32(&op->axes, x, kernel_slot(&op->kernel, X), op->kernel.tensors[X].dtype, line, at,
                  n);
}

static inline void softmax_line_by(const struct softmax *op, int64_t line)
{
    float x[SOFTMAX_KEPT];
    int64_t length = op->axes.length, n;
    bool kept = length <= SOFTMAX_KEPT;
    struct softmax_max most;
    struct kernel_sum sum = {{0}};
    for (size_t lane = 0; lane < sizeof most.lanes / sizeof most.lanes[0]; lane++)
        most.lanes[lane] = -INFINITY;
    for (int64_t at = 0; at < length; at += n) {
        n = kernel_min(SOFTMAX_KEPT, length - at);
        softmax_load(op, x, line, at, n);
        softmax_max_add(&most, x, n);
    }
    float max = softmax_max_total(&most);
    for (int64_t at = 0; at < length; at += n) {
        n = kernel_min(SOFTMAX_KEPT, length - at);
        if (!kept)
            softmax_load(op, x, line, at, n);
        exponentials_by(x, max, n);
        kernel_sum_add(&sum, x, n);
    }
    float total = kernel_sum_total(&sum), log = LOG ? logf(total) : 0;
    for (int64_t at = 0; at < length; at += n) {
        n = kernel_min(SOFTMAX_KEPT, length - at);
        if (!kept || LOG)
            softmax_load(op, x, line, at, n);
        if (!kept && !LOG)
            exponentials_by(x, max, n);
        for (int64_t i = 0; i < n; i++)
            x[i] = LOG ? x[i] - max - log : x[i] / total;
        axes_store_f32(&op->axes, x, kernel_slot(&op->kernel, Y), op->kernel.tensors[Y].dtype, line,
                       at, n);
    }
}
VECTORS_OF(softmax_line, (const struct softmax *op, int64_t line), (op, line))

/* Chunks are loaded once for each of the maximum, the sum and the result. */
static void softmax_line_f64(const struct softmax *op, int64_t line)
{
    enum { MAXIMUM, TOTAL, RESULT, STEPS };
    double x[KERNEL_CHUNK], max = -INFINITY, total = 0;
    struct kernel_sum_f64 sum = {{0}};
    for (int step = MAXIMUM; step < STEPS; step++) {
        for (int64_t at = 0, n; at < op->axes.length; at += n) {
            n = kernel_min(KERNEL_CHUNK, op->axes.length - at);
            axes_load_f64(&op->axes, x, kernel_slot(&op->kernel, X), SKRT_f64, line, at, n);
            for (int64_t i = 0; i < n; i++) {
                if (step == MAXIMUM)
                    max = x[i] > max ? x[i] : max;
                else if (step == RESULT && LOG)
                    x[i] = x[i] - max - log(total);
                else
                    x[i] = exp(x[i] - max) / (step == RESULT ? total : 1);
            }
            if (step == TOTAL)
                kernel_sum_f64_add(&sum, x, n);
            if (step == RESULT)
                axes_store_f64(&op->axes, x, kernel_slot(&op->kernel, Y), SKRT_f64, line, at, n);
        }
        total = kernel_sum_f64_total(&sum);
    }
}

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct softmax op;
    uint32_t set = 0;
    if (!kernel_open(&op.kernel, core, args_offset, TENSORS, false) ||
        !axes_choose_attr(&set, &op.kernel, &op.kernel.tensors[X], "axes", -1))
        return;
    axes_open(&op.axes, &op.kernel.tensors[X], set);
    struct kernel_range range = kernel_block_range(core, op.axes.lines);
    bool wide = op.kernel.tensors[X].dtype == SKRT_f64;
    for (int64_t n = range.begin; n < range.end; n++)
        (wide ? softmax_line_f64 : softmax_line)(&op, axes_line(&op.axes, n));
}
