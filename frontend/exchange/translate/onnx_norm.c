/* Softmaxes and normalisations of ONNX. */
#include "frontend/exchange/translate/onnx_rows.h"

/* -------------------------------------------------------------------------- softmaxes ---- */

static void softmax(struct translation *t, const char *type, struct tr_ints axes)
{
    tr_set_ints(t, "axes", axes);
    tr_give(t, 0, tr_make(t, type, tr_operand(t, 0)));
}

static void make_softmax(struct translation *t)
{
    softmax(t, "SoftmaxV2", onnx_one(t, tr_int(t, "axis")));
}

static void make_log_softmax(struct translation *t)
{
    softmax(t, "LogSoftmaxV2", onnx_one(t, tr_int(t, "axis")));
}

/* All dimensions from the axis on are one. */
static struct tr_ints last_axes(struct translation *t)
{
    uint32_t rank = tr_need_rank(t, tr_operand(t, 0));
    return tr_range(t, tr_axis(t, tr_int(t, "axis"), rank), rank);
}

static void make_old_softmax(struct translation *t)
{
    softmax(t, "SoftmaxV2", last_axes(t));
}

static void make_old_log_softmax(struct translation *t)
{
    softmax(t, "LogSoftmaxV2", last_axes(t));
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

static void batch_norm(struct translation *t, bool training)
{
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

static void make_old_batch_norm(struct translation *t)
{
    batch_norm(t, false);
}

static void make_batch_norm(struct translation *t)
{
    batch_norm(t, tr_int(t, "training_mode"));
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
     .make = make_old_batch_norm,
     .attrs = {{"epsilon", OF_FLOAT, "1e-5"}, {"momentum", OF_FLOAT, "0.9"}},
     .about = "inference: only the first output is given"},
    {"BatchNormalization", 14, .to = "Sub, Adds, Rsqrt, Mul, Add", .make = make_batch_norm,
     .attrs = {{"epsilon", OF_FLOAT, "1e-5"},
               {"momentum", OF_FLOAT, "0.9"},
               {"training_mode", OF_BOOL, "0"}},
     .about = "in training mode with ReduceMean and Square, and the running statistics"},
    {"GroupNormalization", 21, .to = "Reshape, ReduceMean, Square, Rsqrt, Mul, Add",
     .make = make_group_norm,
     .attrs = {{"epsilon", OF_FLOAT, "1e-5"}, {"num_groups", OF_INT}, {"stash_type", OF_INT, "1"}},
     .about = "of static dimensions"},
    {"InstanceNormalization", 6, .to = "ReduceMean, Sub, Square, Rsqrt, Mul, Add",
     .make = make_instance_norm, .attrs = {{"epsilon", OF_FLOAT, "1e-5"}},
     .about = "the rank must be known"},
    {"LRN", 1, .to = "Square, PadV3, Slice, Add, Muls, Adds, Pow, Div", .make = make_lrn,
     .attrs = {{"alpha", OF_FLOAT, "0.0001"},
               {"beta", OF_FLOAT, "0.75"},
               {"bias", OF_FLOAT, "1"},
               {"size", OF_INT}},
     .about = "`size` is at most 64; the number of channels must be known"},
    {"LayerNormalization", 17, .to = "LayerNorm", .make = make_layer_norm,
     .attrs = {{"axis", OF_INT, "-1", "begin_norm_axis"},
               {"epsilon", OF_FLOAT, "1e-5", "epsilon"},
               {"stash_type", OF_INT, "1", NULL, "1"}},
     .about = "where its scale and bias have the last dimensions and only its first output is "
              "taken; else ReduceMean, Sub, Square, Rsqrt, Mul and Add"},
    {"LogSoftmax", 1, .until = 12, .to = "LogSoftmaxV2", .make = make_old_log_softmax,
     .attrs = {{"axis", OF_INT, "1"}},
     .about = "along all dimensions from `axis` on; the rank must be known"},
    {"LogSoftmax", 13, .to = "LogSoftmaxV2", .make = make_log_softmax,
     .attrs = {{"axis", OF_INT, "-1", "axes"}}},
    {"LpNormalization", 1, .to = "ReduceSum, Div", .make = make_lp,
     .attrs = {{"axis", OF_INT, "-1"}, {"p", OF_INT, "2", NULL, "1|2"}},
     .about = "of Abs where `p` is 1, else of Square, with Sqrt"},
    {"MeanVarianceNormalization", 9, .to = "ReduceMean, Sub, Square, Sqrt, Adds, Div",
     .make = make_mean_variance, .attrs = {{"axes", OF_INTS, "[0, 2, 3]"}}},
    {"RMSNormalization", 23, .to = "RmsNorm", .make = make_rms_norm,
     .attrs = {{"axis", OF_INT, "-1"},
               {"epsilon", OF_FLOAT, "1e-5", "epsilon"},
               {"stash_type", OF_INT, "1", NULL, "1"}},
     .about = "where its scale has the last dimensions"},
    {"Softmax", 1, .until = 12, .to = "SoftmaxV2", .make = make_old_softmax,
     .attrs = {{"axis", OF_INT, "1"}},
     .about = "along all dimensions from `axis` on; the rank must be known"},
    {"Softmax", 13, .to = "SoftmaxV2", .make = make_softmax,
     .attrs = {{"axis", OF_INT, "-1", "axes"}}},
    {NULL},
};
