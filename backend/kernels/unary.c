/* x -> y of one data type and shape; `c` is an attribute of the op, if it has one. */
#include "backend/kernels/elementary.h"
#include "backend/kernels/elementwise.h"
#include "backend/kernels/vectors.h"

#include <math.h>

struct unary {
    const char *key; /* of the attribute; NULL: there is none */
    double otherwise;
    const char *word; /* of an attribute that is a text: what makes c 1 in place of 0; or NULL */
    void (*f32)(float *y, const float *x, float c, int64_t n);
    void (*i64)(int64_t *y, const int64_t *x, int64_t c, int64_t n); /* NULL: has none */
};

#define UNARY_LOOP(function, type, expression)                                                     \
    SAMPLE_SOME void function(type *ys, const type *xs, type c, int64_t n)                         \
    {                                                                                              \
        (void)c;                                                                                   \
        for (int64_t i = 0; i < n; i++) {                                                          \
            type x = xs[i];                                                                        \
            ys[i] = (expression);                                                                  \
        }                                                                                          \
    }

/* Ops for floats, and with an attribute; ops for integers too, and with an attribute. */
#define UNARY_FLOAT_OF(name, key, otherwise, expression)                                           \
    UNARY_LOOP(name##_f32, float, expression)                                                      \
    SAMPLE_SOME const struct unary name##_row = {key, otherwise, NULL, name##_f32, NULL};
#define UNARY_FLOAT(name, expression) UNARY_FLOAT_OF(name, NULL, 0, expression)
/* At the machine's vector level. */
#define UNARY_VECTORS_OF(name, key, otherwise, expression)                                         \
    UNARY_LOOP(name##_f32_by, float, expression)                                                   \
    VECTORS_OF(name##_f32, (float *ys, const float *xs, float c, int64_t n), (ys, xs, c, n))       \
    SAMPLE_SOME const struct unary name##_row = {key, otherwise, NULL, name##_f32, NULL};
#define UNARY_VECTORS(name, expression) UNARY_VECTORS_OF(name, NULL, 0, expression)
#define UNARY_OF(name, key, expression, integer)                                                   \
    UNARY_LOOP(name##_f32, float, expression)                                                      \
    UNARY_LOOP(name##_i64, int64_t, integer)                                                       \
    SAMPLE_SOME const struct unary name##_row = {key, 0, NULL, name##_f32, name##_i64};
#define UNARY_FLOAT_WORD(name, key, word, expression)                                              \
    UNARY_LOOP(name##_f32, float, expression)                                                      \
    SAMPLE_SOME const struct unary name##_row = {key, 0, word, name##_f32, NULL};
#define UNARY(name, expression, integer) UNARY_OF(name, NULL, expression, integer)

/* Integers wrap. */
#define UNARY_MINUS ((int64_t)(0 - (uint64_t)x))

static inline float unary_sigmoid(float x)
{
    return 1 / (1 + elementary_exp(-x));
}

/* The approximation by tanh, as x * sigmoid(2 * ...). */
static inline float unary_gelu(float x)
{
    return x / (1 + elementary_exp(-1.5957691216F * (x + 0.044715F * x * x * x)));
}

/* In f64, since the argument's rounding would grow. */
static inline float unary_gelu_exact(float x)
{
    return (float)(0.5 * x * erfc(-0.70710678118654752 * x));
}

/* log(1 + exp(x)) without overflow. */
static inline float unary_softplus(float x)
{
    return (x > 0 ? x : 0) + log1pf(elementary_exp(-fabsf(x)));
}

UNARY(neg, -x, UNARY_MINUS)
UNARY(abs_op, fabsf(x), x < 0 ? UNARY_MINUS : x)
UNARY(square, x *x, (int64_t)((uint64_t)x *(uint64_t)x))
UNARY(relu, x > 0 || x != x ? x : 0, x > 0 ? x : 0)
UNARY(sign, x > 0 ? 1 : x < 0 ? -1 : x, (x > 0) - (x < 0))
UNARY_OF(adds, "value", x + c, (int64_t)((uint64_t)x + (uint64_t)c))
UNARY_OF(muls, "value", x *c, (int64_t)((uint64_t)x *(uint64_t)c))
UNARY_VECTORS(exp_op, elementary_exp(x))
UNARY_FLOAT(expm1_op, expm1f(x))
UNARY_FLOAT(log_op, logf(x))
UNARY_FLOAT(log1p_op, log1pf(x))
UNARY_FLOAT(sqrt_op, sqrtf(x))
UNARY_FLOAT(rsqrt, 1 / sqrtf(x))
UNARY_FLOAT(reciprocal, 1 / x)
UNARY_FLOAT(sin_op, sinf(x))
UNARY_FLOAT(cos_op, cosf(x))
UNARY_FLOAT(tanh_op, tanhf(x))
UNARY_FLOAT(erf_op, erff(x))
UNARY_FLOAT(floor_op, floorf(x))
UNARY_FLOAT(ceil_op, ceilf(x))
UNARY_FLOAT(round_op, rintf(x))
UNARY_VECTORS(sigmoid, unary_sigmoid(x))
UNARY_FLOAT(softplus, unary_softplus(x))
UNARY_VECTORS(gelu, unary_gelu(x))
UNARY_FLOAT_WORD(gelu_v2, "approximate", "tanh", c != 0 ? unary_gelu(x) : unary_gelu_exact(x))
UNARY_VECTORS(fast_gelu, x / (1 + elementary_exp(-1.702F * x)))
UNARY_VECTORS_OF(swish, "scale", 1, x / (1 + elementary_exp(-c * x)))
UNARY_FLOAT_OF(leaky_relu, "negative_slope", 0, x > 0 ? x : x * c)

struct unary_op {
    const struct unary *row;
    float f32;
    int64_t i64;
};

static void unary_floats(const struct elementwise_chunk *chunk, const void *op)
{
    const struct unary_op *unary = op;
    float x[KERNEL_CHUNK], y[KERNEL_CHUNK];
    float *to = elementwise_write_f32(y, chunk, 1);
    unary->row->f32(to, elementwise_read_f32(x, chunk, 0), unary->f32, chunk->n);
    if (to == y)
        elementwise_store_f32(chunk, 1, y);
}

static void unary_ints(const struct elementwise_chunk *chunk, const void *op)
{
    const struct unary_op *unary = op;
    int64_t x[KERNEL_CHUNK], y[KERNEL_CHUNK];
    int64_t *to = elementwise_write_i64(y, chunk, 1);
    unary->row->i64(to, elementwise_read_i64(x, chunk, 0), unary->i64, chunk->n);
    if (to == y)
        elementwise_store_i64(chunk, 1, y);
}

static void unary_attribute(struct unary_op *op, const struct kernel *kernel)
{
    const struct unary *row = op->row;
    const struct skrt_attr *attr = row->key != NULL ? kernel_attr(kernel, row->key) : NULL;
    op->f32 = (float)(attr != NULL ? attr->f : row->otherwise);
    op->i64 = attr != NULL ? attr->i : 0;
    if (row->word != NULL)
        op->f32 = attr != NULL && attr->text != NULL && strcmp(attr->text, row->word) == 0;
}

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    struct unary_op op = {.row = &SAMPLE_OWN(_row)};
    if (!kernel_open(&kernel, core, args_offset, 2, false) ||
        !kernel_same_dims(&kernel.tensors[0], &kernel.tensors[1]) ||
        kernel.tensors[0].dtype != kernel.tensors[1].dtype)
        return;
    bool floats = kernel_is_float(kernel.tensors[0].dtype);
    unary_attribute(&op, &kernel);
    if (floats || op.row->i64 != NULL)
        elementwise_run(&kernel, 1, floats ? unary_floats : unary_ints, &op, skrt_block_idx(core),
                        skrt_block_num(core));
}
