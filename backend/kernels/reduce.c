/* Reductions along axes: ReduceSum and its like, whose axes are a tensor that is read at run time,
 * and the same with D after it, whose axes are an attribute.
 *
 * An element of y is made of the elements of its line in row-major order. Sums of floats are in
 * eight lanes by the index in the line; products, maxima and minima go from the first element to
 * the last. A maximum or minimum with NaN is NaN; of no elements it is the smallest or largest that
 * there is, the mean of none is NaN. ReduceAll and ReduceAny are the minimum and maximum of bools.
 */
#include "backend/kernels/axes.h"
#include "backend/kernels/elementary.h"

/* What is computed, NAME_kind for SAMPLE_OWN, and whether the axes are a tensor. */
enum reduce_kind { SUM, MEAN, MAX, MIN, PROD, LOG_SUM_EXP };
#define REDUCE(name, kind)                                                                         \
    SAMPLE_SOME const enum reduce_kind reduce_##name##_kind = kind, reduce_##name##_d_kind = kind; \
    enum { reduce_##name##_tensor = 1, reduce_##name##_d_tensor = 0 };
REDUCE(sum, SUM)
REDUCE(mean, MEAN)
REDUCE(max, MAX)
REDUCE(min, MIN)
REDUCE(prod, PROD)
REDUCE(all, MIN)
REDUCE(any, MAX)
REDUCE(log_sum_exp, LOG_SUM_EXP)
#define KIND SAMPLE_OWN(_kind)
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
        !kernel_flag(kernel, "noop_with_empty_axes", KIND != LOG_SUM_EXP))
        op->set = (UINT32_C(1) << x->rank) - 1;
    return known;
}

static bool reduce_open(struct reduce *op, const skrt_core *core, uint64_t args_offset)
{
    op->set = 0;
    if (!kernel_open(&op->kernel, core, args_offset, TENSORS, false) || !reduce_choose(op))
        return false;
    axes_open(&op->axes, &op->kernel.tensors[X], op->set);
    return kernel_elements(&op->kernel.tensors[Y]) == op->axes.lines;
}

#define REDUCE_JOIN(as, type, sum, product)                                                        \
    static inline type reduce_join_##as(type all, type x)                                          \
    {                                                                                              \
        switch (KIND) {                                                                            \
        case MAX:                                                                                  \
        case LOG_SUM_EXP: return x > all || x != x ? x : all;                                      \
        case MIN: return x < all || x != x ? x : all;                                              \
        case PROD: return product;                                                                 \
        default: return sum;                                                                       \
        }                                                                                          \
    }
REDUCE_JOIN(f32, float, all + x, all *x)
REDUCE_JOIN(f64, double, all + x, all *x)
REDUCE_JOIN(u64, uint64_t, all + x, all *x)
REDUCE_JOIN(i64, int64_t, (int64_t)((uint64_t)all + (uint64_t)x),
            (int64_t)((uint64_t)all *(uint64_t)x))

/* The smallest (or largest) number of a dtype of these classes. */
static float reduce_bound_f32(uint32_t dtype, bool smallest)
{
    (void)dtype;
    return smallest ? -INFINITY : INFINITY;
}

static double reduce_bound_f64(uint32_t dtype, bool smallest)
{
    return (double)reduce_bound_f32(dtype, smallest);
}

static int64_t reduce_bound_i64(uint32_t dtype, bool smallest)
{
    int bits = dtype == SKRT_bool ? 1 : 8 * (int)kernel_dtype_size(dtype);
    bool is_signed =
        dtype == SKRT_i8 || dtype == SKRT_i16 || dtype == SKRT_i32 || dtype == SKRT_i64;
    int64_t largest = INT64_MAX >> (63 - bits + is_signed);
    return !smallest ? largest : is_signed ? -largest - 1 : 0;
}

static uint64_t reduce_bound_u64(uint32_t dtype, bool smallest)
{
    (void)dtype;
    return smallest ? 0 : UINT64_MAX;
}

/* All elements of a line joined. */
#define REDUCE_LINE(as, type)                                                                      \
    static type reduce_##as(const struct reduce *op, int64_t line)                                 \
    {                                                                                              \
        uint32_t dtype = op->kernel.tensors[X].dtype;                                              \
        type x[KERNEL_CHUNK], all = KIND == PROD;                                                  \
        if (KIND == MAX || KIND == MIN || KIND == LOG_SUM_EXP)                                     \
            all = reduce_bound_##as(dtype, KIND != MIN);                                           \
        for (int64_t at = 0; at < op->axes.length; at += KERNEL_CHUNK) {                           \
            int64_t n = kernel_min(KERNEL_CHUNK, op->axes.length - at);                            \
            axes_load_##as(&op->axes, x, kernel_slot(&op->kernel, X), dtype, line, at, n);         \
            for (int64_t i = 0; i < n; i++)                                                        \
                all = reduce_join_##as(all, x[i]);                                                 \
        }                                                                                          \
        return all;                                                                                \
    }
KERNEL_CLASSES(REDUCE_LINE)

static float reduce_exp_f32(float x)
{
    return elementary_exp(x);
}

static double reduce_exp_f64(double x)
{
    return exp(x);
}

/* Sums of floats: with `largest`, those of the exponentials relative to it. */
#define REDUCE_SUM(as, type, sum_of)                                                               \
    static type reduce_sum_##as(const struct reduce *op, int64_t line, const type *largest)        \
    {                                                                                              \
        type x[KERNEL_CHUNK];                                                                      \
        struct sum_of sum = {{0}};                                                                 \
        for (int64_t at = 0; at < op->axes.length; at += KERNEL_CHUNK) {                           \
            int64_t n = kernel_min(KERNEL_CHUNK, op->axes.length - at);                            \
            axes_load_##as(&op->axes, x, kernel_slot(&op->kernel, X), op->kernel.tensors[X].dtype, \
                           line, at, n);                                                           \
            for (int64_t i = 0; largest != NULL && i < n; i++)                                     \
                x[i] = reduce_exp_##as(x[i] - *largest);                                           \
            sum_of##_add(&sum, x, n);                                                              \
        }                                                                                          \
        return sum_of##_total(&sum);                                                               \
    }                                                                                              \
    static type reduce_floats_##as(const struct reduce *op, int64_t line)                          \
    {                                                                                              \
        if (KIND == SUM || KIND == MEAN)                                                           \
            return reduce_sum_##as(op, line, NULL) / (KIND == MEAN ? (type)op->axes.length : 1);   \
        type all = reduce_##as(op, line);                                                          \
        if (KIND != LOG_SUM_EXP || !isfinite(all))                                                 \
            return all;                                                                            \
        return all + (type)log((double)reduce_sum_##as(op, line, &all));                           \
    }
REDUCE_SUM(f32, float, kernel_sum)
REDUCE_SUM(f64, double, kernel_sum_f64)

#define REDUCE_STORE(as, type, compute)                                                            \
    static void reduce_store_##as(const struct reduce *op, int64_t n)                              \
    {                                                                                              \
        type all = compute(op, axes_line(&op->axes, n));                                           \
        kernel_store_##as(kernel_slot(&op->kernel, Y), op->kernel.tensors[Y].dtype, n, &all, 1);   \
    }
REDUCE_STORE(f32, float, reduce_floats_f32)
REDUCE_STORE(f64, double, reduce_floats_f64)
REDUCE_STORE(i64, int64_t, reduce_i64)
REDUCE_STORE(u64, uint64_t, reduce_u64)
#define REDUCE_STORE_OF(as) reduce_store_##as

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct reduce op;
    if (!reduce_open(&op, core, args_offset))
        return;
    struct kernel_range range = kernel_block_range(core, op.axes.lines);
    for (int64_t n = range.begin; n < range.end; n++)
        KERNEL_OF(op.kernel.tensors[Y].dtype, REDUCE_STORE_OF)(&op, n);
}
