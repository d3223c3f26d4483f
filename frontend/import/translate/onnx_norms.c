/* Softmaxes, normalisations, products of matrices and quantised numbers of ONNX. */
#include "frontend/import/translate/rows.h"

#include <math.h>

/* -------------------------------------------------------------------------- softmaxes ---- */

/* In older operator sets all dimensions from the axis on are one. */
static void make_softmax(struct translation *t)
{
    uint32_t x = tr_operand(t, 0);
    struct tr_ints axes = onnx_one(t, tr_int(t, "axis"));
    if (t->row->until) {
        uint32_t rank = tr_need_rank(t, x);
        axes = tr_range(t, tr_axis(t, tr_int(t, "axis"), rank), rank);
    }
    tr_set_ints(t, "axes", axes);
    tr_give(t, 0, tr_make(t, t->row->to, x));
}

/* ------------------------------------------------------------------------- statistics ---- */

static uint32_t mean(struct translation *t, uint32_t x, struct tr_ints axes)
{
    uint32_t along = tr_const_ints(t, "axes", axes);
    tr_set_flag(t, "keep_dims", true);
    return tr_make(t, "ReduceMean", x, along);
}

static uint32_t plus(struct translation *t, uint32_t x, double number)
{
    tr_set_float(t, "value", number);
    return tr_make(t, "Adds", x);
}

/* x less its mean, and what that is to be multiplied with: 1 / sqrt(variance + epsilon). */
struct deviation {
    uint32_t mean, centred, variance, inverse;
};

static struct deviation deviate(struct translation *t, uint32_t x, struct tr_ints axes)
{
    struct deviation d;
    d.mean = mean(t, x, axes);
    d.centred = tr_make(t, "Sub", x, d.mean);
    d.variance = mean(t, tr_make(t, "Square", d.centred), axes);
    d.inverse = tr_make(t, "Rsqrt", plus(t, d.variance, tr_float(t, "epsilon")));
    return d;
}

/* Numbers of the channels, which are dimension 1 of a tensor of this rank. */
static uint32_t of_channels(struct translation *t, uint32_t numbers, uint32_t rank,
                            enum dtype dtype)
{
    numbers = tr_cast(t, numbers, dtype);
    return rank > 2 ? onnx_unsqueeze(t, numbers, tr_range(t, 1, rank - 1)) : numbers;
}

static struct tr_ints all_but(struct translation *t, uint32_t rank, uint32_t axis)
{
    int64_t *at = tr_array(t, rank);
    uint32_t count = 0;
    for (uint32_t i = 0; i < rank; i++)
        if (i != axis)
            at[count++] = i;
    return (struct tr_ints){at, count};
}

/* The node is refused where x has no channels. */
static uint32_t channel_rank(struct translation *t, uint32_t x)
{
    uint32_t rank = tr_need_rank(t, x);
    if (rank < 2)
        tr_refuse(t, "its operand has fewer than 2 dimensions");
    return tr_refused(t) ? 2 : rank;
}

/* ------------------------------------------------------------------------------ batch ---- */

/* old * momentum + new * (1 - momentum), as numbers of the channels. */
static uint32_t running(struct translation *t, uint32_t old, uint32_t new)
{
    double momentum = tr_float(t, "momentum");
    tr_set_float(t, "value", momentum);
    uint32_t kept = tr_make(t, "Muls", old);
    int64_t *dims = tr_array(t, 1);
    dims[0] = -1;
    uint32_t flat =
        tr_cast(t, tr_reshape(t, new, (struct tr_ints){dims, 1}), tr_need_dtype(t, old));
    tr_set_float(t, "value", 1 - momentum);
    return tr_make(t, "Add", kept, tr_make(t, "Muls", flat));
}

static void make_batch_norm(struct translation *t)
{
    bool training = !t->row->until && tr_int(t, "training_mode");
    uint32_t x = tr_operand(t, 0), rank = channel_rank(t, x);
    enum dtype dtype = tr_need_dtype(t, x);
    uint32_t old_mean = tr_operand(t, 3), old_variance = tr_operand(t, 4);
    struct deviation d;
    if (training) {
        d = deviate(t, x, all_but(t, rank, 1));
    } else {
        d.mean = of_channels(t, old_mean, rank, dtype);
        d.centred = tr_make(t, "Sub", x, d.mean);
        d.inverse = tr_make(
            t, "Rsqrt", plus(t, of_channels(t, old_variance, rank, dtype), tr_float(t, "epsilon")));
    }
    uint32_t factor = tr_make(t, "Mul", d.inverse, of_channels(t, tr_operand(t, 1), rank, dtype));
    tr_give(t, 0,
            tr_make(t, "Add", tr_make(t, "Mul", d.centred, factor),
                    of_channels(t, tr_operand(t, 2), rank, dtype)));
    if (training && tr_wants(t, 1))
        tr_give(t, 1, running(t, old_mean, d.mean));
    if (training && tr_wants(t, 2))
        tr_give(t, 2, running(t, old_variance, d.variance));
}

/* --------------------------------------------------------------- instances and groups ---- */

static void make_instance_norm(struct translation *t)
{
    uint32_t x = tr_operand(t, 0), rank = channel_rank(t, x);
    enum dtype dtype = tr_need_dtype(t, x);
    if (rank < 3)
        tr_refuse(t, "its operand has fewer than 3 dimensions");
    struct deviation d = deviate(t, x, tr_range(t, 2, rank));
    uint32_t factor = tr_make(t, "Mul", d.inverse, of_channels(t, tr_operand(t, 1), rank, dtype));
    tr_give(t, 0,
            tr_make(t, "Add", tr_make(t, "Mul", d.centred, factor),
                    of_channels(t, tr_operand(t, 2), rank, dtype)));
}

static void make_group_norm(struct translation *t)
{
    uint32_t x = tr_operand(t, 0), rank = channel_rank(t, x);
    enum dtype dtype = tr_need_dtype(t, x);
    struct tr_ints dims;
    int64_t groups = tr_int(t, "num_groups");
    if (!tr_dims(t, x, &dims) || groups < 1 || dims.at[1] % groups) {
        tr_refuse(t, "a dimension is not known, or the channels are no multiple of the groups");
        return;
    }
    int64_t *grouped = tr_array(t, 3);
    grouped[0] = dims.at[0];
    grouped[1] = groups;
    grouped[2] = -1;
    uint32_t parts = tr_reshape(t, x, (struct tr_ints){grouped, 3});
    struct deviation d = deviate(t, parts, onnx_one(t, 2));
    uint32_t y = tr_reshape(t, tr_make(t, "Mul", d.centred, d.inverse), dims);
    y = tr_make(t, "Mul", y, of_channels(t, tr_operand(t, 1), rank, dtype));
    tr_give(t, 0, tr_make(t, "Add", y, of_channels(t, tr_operand(t, 2), rank, dtype)));
}

/* ------------------------------------------------------------------------------ layers ---- */

/* Whether a value has the dimensions of x from the axis on, as far as they are known. */
static bool is_last_part(const struct translation *t, uint32_t value, uint32_t x, int64_t axis)
{
    uint32_t rank = tr_rank(t, x);
    if (value == NONE || tr_rank(t, value) != rank - (uint32_t)axis)
        return false;
    for (uint32_t i = 0; i < rank - (uint32_t)axis; i++)
        if (tr_dim(t, value, i) != tr_dim(t, x, (uint32_t)axis + i) || tr_dim(t, value, i) < 0)
            return false;
    return true;
}

/* In the data type of x, or of its statistics. */
static uint32_t layer_norm_of(struct translation *t, uint32_t x, struct deviation *d, int64_t axis,
                              enum dtype dtype)
{
    uint32_t rank = tr_need_rank(t, x), bias = tr_optional(t, 2);
    *d = deviate(t, tr_cast(t, x, DTYPE_f32), tr_range(t, axis, rank));
    uint32_t y = tr_cast(t, tr_make(t, "Mul", d->centred, d->inverse), dtype);
    y = tr_make(t, "Mul", y, tr_operand(t, 1));
    return bias == NONE ? y : tr_make(t, "Add", y, bias);
}

static void make_layer_norm(struct translation *t)
{
    uint32_t x = tr_operand(t, 0), rank = tr_need_rank(t, x);
    int64_t axis = tr_axis(t, tr_int(t, "axis"), rank);
    enum dtype dtype = tr_need_dtype(t, x);
    struct deviation d;
    if (dtype == DTYPE_f64)
        tr_refuse(t, "its operand is f64, and its statistics are f32");
    bool one = !tr_wants(t, 1) && !tr_wants(t, 2) && is_last_part(t, tr_operand(t, 1), x, axis) &&
               is_last_part(t, tr_optional(t, 2), x, axis);
    if (one) {
        uint32_t operands[] = {x, tr_operand(t, 1), tr_operand(t, 2)};
        tr_set_int(t, "begin_norm_axis", axis);
        tr_set_int(t, "begin_params_axis", axis);
        tr_set_float(t, "epsilon", tr_float(t, "epsilon"));
        tr_give(t, 0, tr_op(t, "LayerNorm", operands, 3, 3));
        return;
    }
    tr_give(t, 0, layer_norm_of(t, x, &d, axis, dtype));
    if (tr_wants(t, 1))
        tr_give(t, 1, d.mean);
    if (tr_wants(t, 2))
        tr_give(t, 2, d.inverse);
}

static void make_rms_norm(struct translation *t)
{
    uint32_t x = tr_operand(t, 0), rank = tr_need_rank(t, x);
    int64_t axis = tr_axis(t, tr_int(t, "axis"), rank);
    uint32_t operands[] = {x, tr_operand(t, 1)};
    if (!is_last_part(t, operands[1], x, axis))
        tr_refuse(t, "its scale does not have the last dimensions of its operand");
    tr_set_float(t, "epsilon", tr_float(t, "epsilon"));
    tr_give(t, 0, tr_op(t, "RmsNorm", operands, 2, 2));
}

/* ------------------------------------------------------------------------------ others ---- */

static void make_mean_variance(struct translation *t)
{
    uint32_t x = tr_operand(t, 0);
    struct tr_ints axes = tr_ints(t, "axes");
    uint32_t centred = tr_make(t, "Sub", x, mean(t, x, axes));
    uint32_t variance = mean(t, tr_make(t, "Square", centred), axes);
    tr_give(t, 0, tr_make(t, "Div", centred, plus(t, tr_make(t, "Sqrt", variance), 1e-9)));
}

static void make_lp(struct translation *t)
{
    uint32_t x = tr_operand(t, 0);
    bool ones = tr_int(t, "p") == 1;
    uint32_t axes = tr_const_ints(t, "axes", onnx_one(t, tr_int(t, "axis")));
    uint32_t sizes = tr_make(t, ones ? "Abs" : "Square", x);
    tr_set_flag(t, "keep_dims", true);
    uint32_t norm = tr_make(t, "ReduceSum", sizes, axes);
    tr_give(t, 0, tr_make(t, "Div", x, ones ? norm : tr_make(t, "Sqrt", norm)));
}

/* More channels are not added up one by one. */
enum { MOST_CHANNELS = 64 };

/* Sums of the channels around each: shifted copies of padded ones, so many as the window has. */
static uint32_t window_sum(struct translation *t, uint32_t x, uint32_t rank, int64_t size)
{
    int64_t *pads = tr_array(t, 2 * rank), *from = tr_array(t, rank), *part = tr_array(t, rank);
    uint32_t sum = NONE;
    pads[1] = (size - 1) / 2;
    pads[rank + 1] = size / 2;
    uint32_t paddings = tr_const_ints(t, "pads", (struct tr_ints){pads, 2 * rank});
    tr_set_text(t, "mode", "constant");
    tr_set_flag(t, "paddings_contiguous", false);
    uint32_t padded = tr_make(t, "PadV3", x, paddings);
    for (uint32_t i = 0; i < rank; i++)
        part[i] = i == 1 ? tr_need_dim(t, x, 1) : -1;
    uint32_t sizes = tr_const_ints(t, "sizes", (struct tr_ints){part, rank});
    for (int64_t i = 0; i < size && !tr_refused(t); i++) {
        from[1] = i;
        uint32_t offsets = tr_const_ints(t, "offsets", (struct tr_ints){from, rank});
        uint32_t shifted = tr_make(t, "Slice", padded, offsets, sizes);
        sum = sum == NONE ? shifted : tr_make(t, "Add", sum, shifted);
    }
    return sum;
}

static void make_lrn(struct translation *t)
{
    uint32_t x = tr_operand(t, 0), rank = channel_rank(t, x);
    enum dtype dtype = tr_need_dtype(t, x);
    int64_t size = tr_int(t, "size");
    if (size < 1 || size > MOST_CHANNELS) {
        tr_refuse(t, "attribute 'size' is %lld", (long long)size);
        return;
    }
    uint32_t sum = window_sum(t, tr_make(t, "Square", x), rank, size);
    tr_set_float(t, "value", tr_float(t, "alpha") / (double)size);
    uint32_t base = plus(t, tr_make(t, "Muls", sum), tr_float(t, "bias"));
    uint32_t power = tr_make(t, "Pow", base, tr_const(t, "beta", dtype, tr_float(t, "beta")));
    tr_give(t, 0, tr_make(t, "Div", x, power));
}

/* -------------------------------------------------------------------------------- rows ---- */

const struct translation_row onnx_norm[] = {
    {"BatchNormalization", 9, .until = 13, .to = "Sub, Adds, Rsqrt, Mul, Add",
     .make = make_batch_norm, .attrs = {FLOAT("epsilon", "1e-5"), FLOAT("momentum", "0.9")},
     .about = "inference: only the first output is given"},
    {"BatchNormalization", 14, .to = "Sub, Adds, Rsqrt, Mul, Add", .make = make_batch_norm,
     .attrs = {FLOAT("epsilon", "1e-5"), FLOAT("momentum", "0.9"), BOOL("training_mode", "0")},
     .about = "in training mode with ReduceMean and Square, and the running statistics"},
    {"GroupNormalization", 21, .to = "Reshape, ReduceMean, Square, Rsqrt, Mul, Add",
     .make = make_group_norm,
     .attrs = {FLOAT("epsilon", "1e-5"), INT("num_groups"), INT("stash_type", "1")},
     .about = "of static dimensions"},
    {"InstanceNormalization", 6, .to = "ReduceMean, Sub, Square, Rsqrt, Mul, Add",
     .make = make_instance_norm, .attrs = {FLOAT("epsilon", "1e-5")},
     .about = "the rank must be known"},
    {"LRN", 1, .to = "Square, PadV3, Slice, Add, Muls, Adds, Pow, Div", .make = make_lrn,
     .attrs = {FLOAT("alpha", "0.0001"), FLOAT("beta", "0.75"), FLOAT("bias", "1"), INT("size")},
     .about = "`size` is at most 64; the number of channels must be known"},
    {"LayerNormalization", 17, .to = "LayerNorm", .make = make_layer_norm,
     .attrs = {INT("axis", "-1", "begin_norm_axis"), FLOAT("epsilon", "1e-5", "epsilon"),
               INT("stash_type", "1", NULL, "1")},
     .about = "where its scale and bias have the last dimensions and only its first output is "
              "taken; else ReduceMean, Sub, Square, Rsqrt, Mul and Add"},
    {"LogSoftmax", 1, .until = 12, .to = "LogSoftmaxV2", .make = make_softmax,
     .attrs = {INT("axis", "1")},
     .about = "along all dimensions from `axis` on; the rank must be known"},
    {"LogSoftmax", 13, .to = "LogSoftmaxV2", .make = make_softmax,
     .attrs = {INT("axis", "-1", "axes")}},
    {"LpNormalization", 1, .to = "ReduceSum, Div", .make = make_lp,
     .attrs = {INT("axis", "-1"), INT("p", "2", NULL, "1|2")},
     .about = "of Abs where `p` is 1, else of Square, with Sqrt"},
    {"MeanVarianceNormalization", 9, .to = "ReduceMean, Sub, Square, Sqrt, Adds, Div",
     .make = make_mean_variance, .attrs = {INTS("axes", "[0, 2, 3]")}},
    {"RMSNormalization", 23, .to = "RmsNorm", .make = make_rms_norm,
     .attrs = {INT("axis", "-1"), FLOAT("epsilon", "1e-5", "epsilon"),
               INT("stash_type", "1", NULL, "1")},
     .about = "where its scale has the last dimensions"},
    {"Softmax", 1, .until = 12, .to = "SoftmaxV2", .make = make_softmax,
     .attrs = {INT("axis", "1")},
     .about = "along all dimensions from `axis` on; the rank must be known"},
    {"Softmax", 13, .to = "SoftmaxV2", .make = make_softmax, .attrs = {INT("axis", "-1", "axes")}},
    {NULL},
};

/* -------------------------------------------------------------------------- products ---- */

/* As numpy.matmul: a vector is a row on the left and a column on the right. */
static uint32_t product(struct translation *t, uint32_t a, uint32_t b)
{
    uint32_t left = tr_need_rank(t, a), right = tr_need_rank(t, b);
    if (left == 0 || right == 0) {
        tr_refuse(t, "an operand has no dimensions");
        return NONE;
    }
    if (left == 1)
        a = onnx_unsqueeze(t, a, onnx_one(t, 0));
    if (right == 1)
        b = onnx_unsqueeze(t, b, onnx_one(t, 1));
    bool plain = left <= 2 && right <= 2;
    uint32_t y = tr_make(t, plain ? "MatMul" : "BatchMatMul", a, b);
    int64_t *axes = tr_array(t, 2);
    uint32_t n_axes = 0;
    if (left == 1)
        axes[n_axes++] = -2;
    if (right == 1)
        axes[n_axes++] = -1;
    if (n_axes == 0)
        return y;
    tr_set_ints(t, "axis", (struct tr_ints){axes, n_axes});
    return tr_make(t, "Squeeze", y);
}

static void make_mat_mul(struct translation *t)
{
    tr_most_operands(t, 2);
    tr_give(t, 0, product(t, tr_operand(t, 0), tr_operand(t, 1)));
}

/* value * factor */
static uint32_t scaled(struct translation *t, uint32_t value, double factor)
{
    if (factor == 1)
        return value;
    if (!tr_is_float(t, value) && factor != trunc(factor))
        tr_refuse(t, "a factor is %g, and the data type not known as one of floats", factor);
    tr_set_float(t, "value", factor);
    return tr_make(t, "Muls", value);
}

static void make_gemm(struct translation *t)
{
    uint32_t a = tr_operand(t, 0), b = tr_operand(t, 1), c = tr_optional(t, 2);
    double beta = tr_float(t, "beta");
    tr_most_operands(t, 3);
    tr_set_flag(t, "transpose_x1", tr_int(t, "transA"));
    tr_set_flag(t, "transpose_x2", tr_int(t, "transB"));
    uint32_t y = scaled(t, tr_make(t, "MatMul", a, b), tr_float(t, "alpha"));
    if (c != NONE && beta != 0)
        y = tr_make(t, "Add", y, scaled(t, c, beta));
    tr_give(t, 0, y);
}

/* ----------------------------------------------------------------------- quantisation ---- */

/* Numbers for each place along an axis of x: with dimensions 1 after it. */
static uint32_t along(struct translation *t, uint32_t numbers, uint32_t x, int64_t axis)
{
    uint32_t rank = numbers == NONE ? 0 : tr_need_rank(t, numbers);
    if (rank == 0 || tr_refused(t))
        return numbers;
    if (tr_dim(t, numbers, 0) == 1 && rank == 1)
        return tr_reshape(t, numbers, (struct tr_ints){NULL, 0});
    uint32_t of_x = tr_need_rank(t, x);
    axis = tr_axis(t, axis, of_x);
    if (rank != 1)
        tr_refuse(t, "its scale or zero point has %u dimensions", rank);
    if (tr_refused(t) || axis == (int64_t)of_x - 1)
        return numbers;
    return onnx_unsqueeze(t, numbers, tr_range(t, 1, of_x - axis));
}

static int64_t quantised_axis(struct translation *t)
{
    return t->row->until == 12 ? 1 : tr_int(t, "axis");
}

/* Numbers of 8 bits as i32, less their zero point. */
static uint32_t centred(struct translation *t, uint32_t x, uint32_t zero)
{
    x = tr_cast(t, x, DTYPE_i32);
    return zero == NONE ? x : tr_make(t, "Sub", x, tr_cast(t, zero, DTYPE_i32));
}

static void make_dequantize(struct translation *t)
{
    uint32_t x = tr_operand(t, 0), scale = tr_operand(t, 1);
    int64_t axis = quantised_axis(t);
    enum dtype dtype = tr_need_dtype(t, scale);
    uint32_t numbers = centred(t, x, along(t, tr_optional(t, 2), x, axis));
    if (tr_need_dtype(t, x) != DTYPE_i8 && tr_need_dtype(t, x) != DTYPE_u8 &&
        tr_need_dtype(t, x) != DTYPE_i32)
        tr_refuse(t, "its operand is %s", dtype_info(tr_need_dtype(t, x))->name);
    tr_give(t, 0, tr_make(t, "Mul", tr_cast(t, numbers, dtype), along(t, scale, x, axis)));
}

static void make_quantize(struct translation *t)
{
    uint32_t x = tr_operand(t, 0), scale = tr_operand(t, 1), zero = tr_optional(t, 2);
    int64_t axis = quantised_axis(t);
    enum dtype to = zero == NONE ? DTYPE_u8 : tr_need_dtype(t, zero), from = tr_need_dtype(t, x);
    if ((to != DTYPE_u8 && to != DTYPE_i8) || from != DTYPE_f32) {
        tr_refuse(t, "it makes %s of %s", dtype_info(to)->name, dtype_info(from)->name);
        return;
    }
    uint32_t y = tr_make(t, "Round", tr_make(t, "Div", x, along(t, scale, x, axis)));
    if (zero != NONE)
        y = tr_make(t, "Add", y, tr_cast(t, along(t, zero, x, axis), from));
    uint32_t low = tr_const(t, "low", from, to == DTYPE_u8 ? 0 : -128);
    uint32_t high = tr_const(t, "high", from, to == DTYPE_u8 ? 255 : 127);
    tr_give(t, 0, tr_cast(t, tr_make(t, "ClipByValue", y, low, high), to));
}

static void make_mat_mul_integer(struct translation *t)
{
    uint32_t a = tr_operand(t, 0), b = tr_operand(t, 1);
    uint32_t of_a = tr_optional(t, 2), of_b = tr_optional(t, 3);
    if (of_a != NONE && tr_need_rank(t, of_a) == 1 && tr_dim(t, of_a, 0) != 1)
        of_a = onnx_unsqueeze(t, of_a, onnx_one(t, 1)); /* one number a row */
    tr_give(t, 0, product(t, centred(t, a, of_a), centred(t, b, of_b)));
}

/* ------------------------------------------------------------------------------ rows ---- */

const struct translation_row onnx_matrix[] = {
    {"DequantizeLinear", 10, .until = 12, .to = "Cast, Sub, Mul", .make = make_dequantize,
     .about = "of i8, u8 and i32; the data types must be known"},
    {"DequantizeLinear", 13, .to = "Cast, Sub, Mul", .make = make_dequantize,
     .attrs = {INT("axis", "1"), INT("block_size", "0", NULL, "0")},
     .about = "of i8, u8 and i32; the data types and ranks must be known"},
    {"Gemm", 7, .to = "MatMul, Muls, Add", .make = make_gemm,
     .attrs = {FLOAT("alpha", "1"), FLOAT("beta", "1"), BOOL("transA", "0", "transpose_x1"),
               BOOL("transB", "0", "transpose_x2")},
     .about = "Muls for `alpha` and `beta` that are not 1; with integers they are integers"},
    {"MatMul", 1, .to = "MatMul, BatchMatMul", .make = make_mat_mul,
     .about = "the ranks must be known; with Unsqueeze and Squeeze of vectors"},
    {"MatMulInteger", 10, .to = "Cast, Sub, MatMul", .make = make_mat_mul_integer,
     .about = "as MatMul of i32"},
    {"QuantizeLinear", 10, .until = 12, .to = "Div, Round, Add, ClipByValue, Cast",
     .make = make_quantize, .about = "of f32 to i8 and u8"},
    {"QuantizeLinear", 13, .to = "Div, Round, Add, ClipByValue, Cast", .make = make_quantize,
     .attrs = {INT("axis", "1"), INT("saturate", "1", NULL, "1"), INT("block_size", "0", NULL, "0"),
               INT("output_dtype", "0", NULL, "0"), INT("precision", "0", NULL, "0")},
     .about = "of f32 to i8 and u8; the ranks must be known"},
    {NULL},
};
