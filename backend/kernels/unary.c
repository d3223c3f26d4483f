/* x -> y of one data type and shape. */
#include "backend/kernels/elementary.h"
#include "backend/kernels/elementwise.h"
#include "backend/kernels/vectors.h"

#include <tgmath.h>

enum { UNARY_ATTRS = 3 };

struct unary {
    const char *keys[UNARY_ATTRS]; /* of attributes, which the expressions have as c, d and e */
    double otherwise[UNARY_ATTRS];
    const char *word; /* of an attribute that is a text: what makes c 1 in place of 0; or NULL */
#define UNARY_MEMBER(as, type) void (*as)(type * y, const type *x, const type *attrs, int64_t n);
    KERNEL_CLASSES(UNARY_MEMBER) /* NULL where it has no such form */
};

/* In an expression, `real` is the type of x. */
#define UNARY_LOOP(function, type, expression)                                                     \
    SAMPLE_SOME void function(type *ys, const type *xs, const type *attrs, int64_t n)              \
    {                                                                                              \
        typedef type real __attribute__((unused));                                                 \
        const type c = attrs[0], d = attrs[1], e = attrs[2];                                       \
        (void)c, (void)d, (void)e;                                                                 \
        for (int64_t i = 0; i < n; i++) {                                                          \
            type x = xs[i];                                                                        \
            ys[i] = (expression);                                                                  \
        }                                                                                          \
    }

/* Ops for floats, these at the machine's vector level, for integers, and for both; with members of
 * struct unary. */
#define UNARY_FLOAT(name, expression, ...)                                                         \
    UNARY_LOOP(name##_f32, float, expression)                                                      \
    UNARY_LOOP(name##_f64, double, expression)                                                     \
    SAMPLE_SOME const struct unary name##_row = {                                                  \
        .f32 = name##_f32, .f64 = name##_f64, ##__VA_ARGS__};
#define UNARY_VECTORS(name, expression, ...)                                                       \
    UNARY_LOOP(name##_f32_by, float, expression)                                                   \
    VECTORS_OF(name##_f32, (float *ys, const float *xs, const float *attrs, int64_t n),            \
               (ys, xs, attrs, n))                                                                 \
    UNARY_LOOP(name##_f64, double, expression)                                                     \
    SAMPLE_SOME const struct unary name##_row = {                                                  \
        .f32 = name##_f32, .f64 = name##_f64, ##__VA_ARGS__};
#define UNARY_INT(name, expression)                                                                \
    UNARY_LOOP(name##_i64, int64_t, expression)                                                    \
    UNARY_LOOP(name##_u64, uint64_t, expression)                                                   \
    SAMPLE_SOME const struct unary name##_row = {.i64 = name##_i64, .u64 = name##_u64};
#define UNARY(name, expression, integer, ...)                                                      \
    UNARY_LOOP(name##_i64, int64_t, integer)                                                       \
    UNARY_LOOP(name##_u64, uint64_t, integer)                                                      \
    UNARY_FLOAT(name, expression, .i64 = name##_i64, .u64 = name##_u64, ##__VA_ARGS__)

/* Integers wrap. */
#define UNARY_MINUS (0 - (uint64_t)x)
#define UNARY_SIGN (x == 0 ? 0 : x > 0 ? 1 : -1)

#define UNARY_EXP(z) _Generic((z), float : elementary_exp, double : exp)(z)
#define UNARY_SIGMOID(z) (1 / (1 + UNARY_EXP(-(z))))
/* The approximation by tanh, as x * sigmoid(2 * ...). */
#define UNARY_GELU                                                                                 \
    (x / (1 + UNARY_EXP((real)-1.5957691216057308 * (x + (real)0.044715 * x * x * x))))
/* In f64, since the argument's rounding would grow. */
#define UNARY_GELU_EXACT ((real)(0.5 * x * erfc(-0.70710678118654752 * x)))
/* log(1 + exp(x)) without overflow. */
#define UNARY_SOFTPLUS ((x > 0 ? x : 0) + log1p(UNARY_EXP(-fabs(x))))
#define UNARY_SELU ((real)1.0507009873554804935)
#define UNARY_SELU_LOW ((real)(1.0507009873554804935 * 1.6732632423543772848))
/* To so many decimals, or to a power of ten. */
#define UNARY_TENS pow((real)10, fabs((real)c))
#define UNARY_ROUND                                                                                \
    (c == 0  ? rint(x)                                                                             \
     : c > 0 ? rint(x * UNARY_TENS) / UNARY_TENS                                                   \
             : rint(x / UNARY_TENS) * UNARY_TENS)
/* Between 0 and 1, or NaN. */
#define UNARY_HELD(z) ((z) < 0 ? 0 : (z) > 1 ? 1 : (z))

UNARY(neg, -x, UNARY_MINUS)
UNARY(abs_op, fabs(x), x > 0 ? (uint64_t)x : UNARY_MINUS)
UNARY(square, x *x, (uint64_t)x *(uint64_t)x)
UNARY(relu, x > 0 || x != x ? x : 0, x > 0 ? x : 0)
UNARY(relu6, x > 6 ? 6 : x > 0 || x != x ? x : 0, x > 6 ? 6 : x > 0 ? x : 0)
UNARY(sign, x > 0 ? 1 : x < 0 ? -1 : x, UNARY_SIGN)
UNARY(adds, x + c, (uint64_t)x + (uint64_t)c, .keys = {"value"})
UNARY(muls, x *c, (uint64_t)x *(uint64_t)c, .keys = {"value"})
UNARY_VECTORS(exp_op, UNARY_EXP(x))
UNARY_FLOAT(expm1_op, expm1(x))
UNARY_FLOAT(log_op, log(x))
UNARY_FLOAT(log1p_op, log1p(x))
UNARY_FLOAT(sqrt_op, sqrt(x))
UNARY_FLOAT(rsqrt, 1 / sqrt(x))
UNARY_FLOAT(reciprocal, 1 / x)
UNARY_FLOAT(sin_op, sin(x))
UNARY_FLOAT(cos_op, cos(x))
UNARY_FLOAT(tan_op, tan(x))
UNARY_FLOAT(asin_op, asin(x))
UNARY_FLOAT(acos_op, acos(x))
UNARY_FLOAT(atan_op, atan(x))
UNARY_FLOAT(sinh_op, sinh(x))
UNARY_FLOAT(cosh_op, cosh(x))
UNARY_FLOAT(tanh_op, tanh(x))
UNARY_FLOAT(asinh_op, asinh(x))
UNARY_FLOAT(acosh_op, acosh(x))
UNARY_FLOAT(atanh_op, atanh(x))
UNARY_FLOAT(erf_op, erf(x))
UNARY_FLOAT(erfc_op, erfc(x))
UNARY_FLOAT(floor_op, floor(x))
UNARY_FLOAT(ceil_op, ceil(x))
UNARY(round_op, UNARY_ROUND, x, .keys = {"decimals"})
UNARY_FLOAT(rint_op, rint(x))
UNARY(trunc_op, trunc(x), x)
UNARY_VECTORS(sigmoid, UNARY_SIGMOID(x))
UNARY_FLOAT(softplus, UNARY_SOFTPLUS)
UNARY_VECTORS(gelu, UNARY_GELU)
UNARY_FLOAT(gelu_v2, c != 0 ? UNARY_GELU : UNARY_GELU_EXACT, .keys = {"approximate"},
            .word = "tanh")
UNARY_VECTORS(fast_gelu, x / (1 + UNARY_EXP((real)-1.702 * x)))
UNARY_VECTORS(swish, x / (1 + UNARY_EXP(-c * x)), .keys = {"scale"}, .otherwise = {1})
UNARY_FLOAT(leaky_relu, x > 0 ? x : x * c, .keys = {"negative_slope"})
UNARY_FLOAT(elu, x > 0 ? d * x : c * d * expm1(e * x), .keys = {"alpha", "scale", "input_scale"},
            .otherwise = {1, 1, 1})
UNARY_FLOAT(selu, x > 0 ? UNARY_SELU * x : UNARY_SELU_LOW * expm1(x))
UNARY_FLOAT(celu_v2, x > 0 ? x : c * expm1(x / c), .keys = {"alpha"}, .otherwise = {1})
UNARY_FLOAT(hard_sigmoid, UNARY_HELD(c *x + d), .keys = {"alpha", "beta"},
            .otherwise = {0.16666666, 0.5})
UNARY_FLOAT(hard_swish, x *UNARY_HELD((x + 3) / 6))
UNARY_FLOAT(softsign, x / (1 + fabs(x)))
UNARY_FLOAT(thresholded_relu, x <= c ? 0 : x, .keys = {"alpha"}, .otherwise = {1})
UNARY_FLOAT(hard_shrink, x >= -c && x <= c ? 0 : x, .keys = {"lambd"}, .otherwise = {0.5})
UNARY_FLOAT(soft_shrink,
            x > c    ? x - c
            : x < -c ? x + c
                     : x * 0,
            .keys = {"lambd"}, .otherwise = {0.5})
UNARY_FLOAT(mish, x *tanh(UNARY_SOFTPLUS))
UNARY_INT(invert, ~x)

/* What is computed, and the attributes as each class has them. */
struct unary_op {
    const struct unary *row;
#define UNARY_ATTR(as, type) type as[UNARY_ATTRS];
    KERNEL_CLASSES(UNARY_ATTR)
};

#define UNARY_CHUNK(as, type)                                                                      \
    static void unary_##as(const struct elementwise_chunk *chunk, const void *op)                  \
    {                                                                                              \
        const struct unary_op *unary = op;                                                         \
        type x[KERNEL_CHUNK], y[KERNEL_CHUNK];                                                     \
        type *to = elementwise_write_##as(y, chunk, 1);                                            \
        unary->row->as(to, elementwise_read_##as(x, chunk, 0), unary->as, chunk->n);               \
        if (to == y)                                                                               \
            elementwise_store_##as(chunk, 1, y);                                                   \
    }
KERNEL_CLASSES(UNARY_CHUNK)

static void unary_attributes(struct unary_op *op, const struct kernel *kernel)
{
    const struct unary *row = op->row;
    for (int i = 0; i < UNARY_ATTRS; i++) {
        const struct skrt_attr *attr =
            row->keys[i] != NULL ? kernel_attr(kernel, row->keys[i]) : NULL;
        op->f64[i] = attr != NULL ? attr->f : row->otherwise[i];
        op->i64[i] = attr != NULL ? attr->i : 0;
        op->u64[i] = (uint64_t)op->i64[i];
        if (row->word != NULL)
            op->f64[i] = strcmp(kernel_text(kernel, row->keys[0], ""), row->word) == 0;
        op->f32[i] = (float)op->f64[i];
    }
}

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    struct unary_op op = {.row = &SAMPLE_OWN(_row)};
    if (!kernel_open(&kernel, core, args_offset, 2, false))
        return;
#define UNARY_OF(as) (op.row->as != NULL ? unary_##as : NULL)
    elementwise_fn *chunk = KERNEL_OF(kernel.tensors[0].dtype, UNARY_OF);
    unary_attributes(&op, &kernel);
    if (chunk != NULL)
        elementwise_run(&kernel, 1, chunk, &op, skrt_block_idx(core), skrt_block_num(core));
}
