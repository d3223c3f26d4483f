/* Products of matrices, and quantised numbers, of ONNX. */
#include "frontend/exchange/translate/onnx_rows.h"

#include <math.h>

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
     .attrs = {{"axis", OF_INT, "1"}, {"block_size", OF_INT, "0", NULL, "0"}},
     .about = "of i8, u8 and i32; the data types and ranks must be known"},
    {"Gemm", 7, .to = "MatMul, Muls, Add", .make = make_gemm,
     .attrs = {{"alpha", OF_FLOAT, "1"},
               {"beta", OF_FLOAT, "1"},
               {"transA", OF_BOOL, "0", "transpose_x1"},
               {"transB", OF_BOOL, "0", "transpose_x2"}},
     .about = "Muls for `alpha` and `beta` that are not 1; with integers they are integers"},
    {"MatMul", 1, .to = "MatMul, BatchMatMul", .make = make_mat_mul,
     .about = "the ranks must be known; with Unsqueeze and Squeeze of vectors"},
    {"MatMulInteger", 10, .to = "Cast, Sub, MatMul", .make = make_mat_mul_integer,
     .about = "as MatMul of i32"},
    {"QuantizeLinear", 10, .until = 12, .to = "Div, Round, Add, ClipByValue, Cast",
     .make = make_quantize, .about = "of f32 to i8 and u8"},
    {"QuantizeLinear", 13, .to = "Div, Round, Add, ClipByValue, Cast", .make = make_quantize,
     .attrs = {{"axis", OF_INT, "1"},
               {"saturate", OF_INT, "1", NULL, "1"},
               {"block_size", OF_INT, "0", NULL, "0"},
               {"output_dtype", OF_INT, "0", NULL, "0"},
               {"precision", OF_INT, "0", NULL, "0"}},
     .about = "of f32 to i8 and u8; the ranks must be known"},
    {NULL},
};
