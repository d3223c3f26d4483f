/* Reductions along axes: ReduceSum, ReduceMean, ReduceMax, ReduceMin and ReduceProd, whose axes are
 * a tensor that is read at run time, and the same with D behind it, whose axes are an attribute.
 *
 * An element of y is made of the elements of its line in row-major order. Sums of floats are f32 in
 * eight lanes by the index in the line; products, maxima and minima go from the first element to
 * the last. A maximum or minimum with NaN is NaN; of no elements it is the smallest or largest that
 * there is, the mean of none is NaN.
 */
#include "backend/kernels/axes.h"

#include <math.h>

/* What is computed; NAME_kind for SAMPLE_OWN. */
enum reduce_kind {
    SUM,
    MEAN,
    MAX,
    MIN,
    PROD,
    reduce_sum_kind = SUM,
    reduce_sum_d_kind = SUM,
    reduce_mean_kind = MEAN,
    reduce_mean_d_kind = MEAN,
    reduce_max_kind = MAX,
    reduce_max_d_kind = MAX,
    reduce_min_kind = MIN,
    reduce_min_d_kind = MIN,
    reduce_prod_kind = PROD,
    reduce_prod_d_kind = PROD,
};
#define KIND SAMPLE_OWN(_kind)

/* Whether the axes are a tensor. */
enum {
    reduce_sum_tensor = 1,
    reduce_sum_d_tensor = 0,
    reduce_mean_tensor = 1,
    reduce_mean_d_tensor = 0,
    reduce_max_tensor = 1,
    reduce_max_d_tensor = 0,
    reduce_min_tensor = 1,
    reduce_min_d_tensor = 0,
    reduce_prod_tensor = 1,
    reduce_prod_d_tensor = 0,
};
enum { TENSOR = SAMPLE_OWN(_tensor), X = 0, Y = 1 + TENSOR, TENSORS };

struct reduce {
    struct kernel kernel;
    struct axes axes;
    uint32_t set; /* of axes */
};

/* The axes that the op says; without any, it says whether that is none or all. */
static bool reduce_choose(struct reduce *op)
{
    const struct kernel *kernel = &op->kernel;
    const struct skrt_tensor *x = &kernel->tensors[X];
    bool known = TENSOR ? axes_choose_tensor(&op->set, kernel, x, 1)
                        : kernel_attr(kernel, "axes") != NULL &&
                              axes_choose_attr(&op->set, kernel, x, "axes", 0);
    if (TENSOR && kernel_elements(&kernel->tensors[1]) == 0 &&
        !kernel_flag(kernel, "noop_with_empty_axes", true))
        op->set = (UINT32_C(1) << x->rank) - 1;
    return known;
}

/* Whether y has the dimensions that are left. */
static bool reduce_fits(const struct reduce *op)
{
    const struct skrt_tensor *x = &op->kernel.tensors[X], *y = &op->kernel.tensors[Y];
    bool keep = kernel_flag(&op->kernel, "keep_dims", false);
    uint32_t rank = 0;
    for (uint32_t axis = 0; axis < x->rank; axis++) {
        bool along = op->set >> axis & 1;
        if (along && !keep)
            continue;
        if (rank == y->rank || y->dims[rank++] != (along ? 1 : x->dims[axis]))
            return false;
    }
    return rank == y->rank && x->dtype == y->dtype;
}

static bool reduce_open(struct reduce *op, const skrt_core *core, uint64_t args_offset)
{
    op->set = 0;
    if (!kernel_open(&op->kernel, core, args_offset, TENSORS, false) || !reduce_choose(op) ||
        !reduce_fits(op))
        return false;
    axes_open(&op->axes, &op->kernel.tensors[X], op->set);
    return true;
}

static float reduce_join_f32(float all, float x)
{
    switch (KIND) {
    case MAX: return x > all || x != x ? x : all;
    case MIN: return x < all || x != x ? x : all;
    default: return all * x;
    }
}

static float reduce_f32(const struct reduce *op, int64_t line)
{
    float x[KERNEL_CHUNK];
    float all = KIND == MAX ? -INFINITY : KIND == MIN ? INFINITY : 1;
    struct kernel_sum sum = {{0}};
    for (int64_t at = 0; at < op->axes.length; at += KERNEL_CHUNK) {
        int64_t n = kernel_min(KERNEL_CHUNK, op->axes.length - at);
        axes_load_f32(&op->axes, x, kernel_slot(&op->kernel, X), op->kernel.tensors[X].dtype, line,
                      at, n);
        if (KIND == SUM || KIND == MEAN)
            kernel_sum_add(&sum, x, n);
        else
            for (int64_t i = 0; i < n; i++)
                all = reduce_join_f32(all, x[i]);
    }
    if (KIND == SUM || KIND == MEAN)
        return kernel_sum_total(&sum) / (KIND == MEAN ? (float)op->axes.length : 1);
    return all;
}

/* The smallest (or largest) number of an integer dtype. */
static int64_t reduce_bound(uint32_t dtype, bool smallest)
{
    if (dtype == SKRT_u8)
        return smallest ? 0 : UINT8_MAX;
    int64_t largest = INT64_MAX >> (64 - 8 * kernel_dtype_size(dtype));
    return smallest ? -largest - 1 : largest;
}

static int64_t reduce_join_i64(int64_t all, int64_t x)
{
    switch (KIND) {
    case MAX: return x > all ? x : all;
    case MIN: return x < all ? x : all;
    case PROD: return (int64_t)((uint64_t)all * (uint64_t)x);
    default: return (int64_t)((uint64_t)all + (uint64_t)x);
    }
}

static int64_t reduce_i64(const struct reduce *op, int64_t line)
{
    int64_t x[KERNEL_CHUNK];
    uint32_t dtype = op->kernel.tensors[X].dtype;
    int64_t all = KIND == MAX || KIND == MIN ? reduce_bound(dtype, KIND == MAX) : KIND == PROD;
    for (int64_t at = 0; at < op->axes.length; at += KERNEL_CHUNK) {
        int64_t n = kernel_min(KERNEL_CHUNK, op->axes.length - at);
        axes_load_i64(&op->axes, x, kernel_slot(&op->kernel, X), dtype, line, at, n);
        for (int64_t i = 0; i < n; i++)
            all = reduce_join_i64(all, x[i]);
    }
    return all;
}

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct reduce op;
    if (!reduce_open(&op, core, args_offset))
        return;
    uint32_t dtype = op.kernel.tensors[Y].dtype;
    struct kernel_range range = kernel_block_range(core, op.axes.lines);
    for (int64_t n = range.begin; n < range.end; n++) {
        int64_t line = axes_line(&op.axes, n);
        if (kernel_is_float(dtype)) {
            float all = reduce_f32(&op, line);
            kernel_store_f32(kernel_slot(&op.kernel, Y), dtype, n, &all, 1);
        } else if (KIND != MEAN) {
            int64_t all = reduce_i64(&op, line);
            kernel_store_i64(kernel_slot(&op.kernel, Y), dtype, n, &all, 1);
        }
    }
}
