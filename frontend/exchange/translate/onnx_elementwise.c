/* Operators of ONNX on elements. */
#include "frontend/exchange/translate/onnx_rows.h"

/* ------------------------------------------------------------------------ variadic ---- */

/* All operands, two by two. */
static uint32_t fold(struct translation *t, const char *type)
{
    uint32_t value = tr_operand(t, 0);
    for (uint32_t i = 1; i < t->n_operands; i++)
        value = tr_make(t, type, value, tr_operand(t, i));
    return value;
}

static void make_max(struct translation *t)
{
    tr_give(t, 0, fold(t, "Maximum"));
}

static void make_min(struct translation *t)
{
    tr_give(t, 0, fold(t, "Minimum"));
}

static void make_sum(struct translation *t)
{
    tr_give(t, 0, fold(t, "Add"));
}

static void make_mean(struct translation *t)
{
    uint32_t sum = fold(t, "Add");
    enum dtype dtype = tr_need_dtype(t, tr_operand(t, 0));
    tr_give(t, 0,
            t->n_operands == 1
                ? sum
                : tr_make(t, "Div", sum, tr_const(t, "count", dtype, t->n_operands)));
}

/* ---------------------------------------------------------------------- arithmetic ---- */

static bool is_integer(enum dtype dtype)
{
    enum dtype_class class = dtype_info(dtype)->class;
    return class == CLASS_SINT || class == CLASS_UINT;
}

static void make_div(struct translation *t)
{
    bool integers = is_integer(tr_need_dtype(t, tr_operand(t, 0)));
    tr_most_operands(t, 2);
    tr_give(t, 0, tr_make(t, integers ? "TruncateDiv" : "Div", tr_operand(t, 0), tr_operand(t, 1)));
}

static void make_mod(struct translation *t)
{
    bool fmod = tr_int(t, "fmod");
    if (!fmod && tr_is_float(t, tr_operand(t, 0)))
        tr_refuse(t, "its operands are no integers, and attribute 'fmod' is 0");
    tr_most_operands(t, 2);
    tr_give(t, 0, tr_make(t, fmod ? "Mod" : "FloorMod", tr_operand(t, 0), tr_operand(t, 1)));
}

/* The dtype in which a power is computed, so that nothing of either operand is lost. */
static enum dtype power_dtype(enum dtype base, enum dtype exponent)
{
    bool integers = is_integer(base) && is_integer(exponent);
    if (base == exponent)
        return base;
    if (integers)
        return DTYPE_i64;
    return base == DTYPE_f64 || exponent == DTYPE_f64 || is_integer(base) ? DTYPE_f64 : DTYPE_f32;
}

static void make_pow(struct translation *t)
{
    uint32_t base = tr_operand(t, 0), exponent = tr_operand(t, 1);
    enum dtype dtype = tr_need_dtype(t, base);
    enum dtype between = power_dtype(dtype, tr_need_dtype(t, exponent));
    uint32_t power = tr_make(t, "Pow", tr_cast(t, base, between), tr_cast(t, exponent, between));
    tr_give(t, 0, tr_cast(t, power, dtype));
}

static void make_shift(struct translation *t)
{
    bool left = tr_is(t, "direction", "LEFT");
    tr_most_operands(t, 2);
    tr_give(t, 0,
            tr_make(t, left ? "LeftShift" : "RightShift", tr_operand(t, 0), tr_operand(t, 1)));
}

static void make_is_inf(struct translation *t)
{
    uint32_t x = tr_operand(t, 0);
    bool positive = tr_int(t, "detect_positive"), negative = tr_int(t, "detect_negative");
    if (!positive && !negative)
        tr_refuse(t, "it detects nothing");
    uint32_t is = tr_make(t, "IsInf", x);
    if (!positive || !negative) {
        uint32_t zero = tr_const(t, "zero", tr_need_dtype(t, x), 0);
        uint32_t side = tr_make(t, positive ? "Greater" : "Less", x, zero);
        is = tr_make(t, "LogicalAnd", is, side);
    }
    tr_give(t, 0, is);
}

/* ---------------------------------------------------------------------------- clip ---- */

static void clip(struct translation *t, uint32_t x, uint32_t low, uint32_t high)
{
    if (low != NONE && high != NONE)
        x = tr_make(t, "ClipByValue", x, low, high);
    else if (low != NONE)
        x = tr_make(t, "Maximum", x, low);
    else if (high != NONE)
        x = tr_make(t, "Minimum", x, high);
    tr_give(t, 0, x);
}

static void make_clip(struct translation *t)
{
    tr_most_operands(t, 3);
    clip(t, tr_operand(t, 0), tr_optional(t, 1), tr_optional(t, 2));
}

static uint32_t bound(struct translation *t, const char *name, enum dtype dtype)
{
    return tr_has(t, name) ? tr_const(t, name, dtype, tr_float(t, name)) : NONE;
}

static void make_old_clip(struct translation *t)
{
    uint32_t x = tr_operand(t, 0);
    enum dtype dtype = tr_need_dtype(t, x);
    tr_most_operands(t, 1);
    uint32_t low = bound(t, "min", dtype);
    clip(t, x, low, bound(t, "max", dtype));
}

/* --------------------------------------------------------------------- activations ---- */

static void make_prelu(struct translation *t)
{
    uint32_t x = tr_operand(t, 0), slope = tr_operand(t, 1);
    uint32_t zero = tr_const(t, "zero", tr_need_dtype(t, x), 0);
    uint32_t below = tr_make(t, "Less", x, zero);
    tr_give(t, 0, tr_make(t, "SelectV2", below, tr_make(t, "Mul", x, slope), x));
}

static void make_selu(struct translation *t)
{
    tr_set_float(t, "alpha", tr_float(t, "alpha"));
    uint32_t elu = tr_make(t, "Elu", tr_operand(t, 0));
    tr_set_float(t, "value", tr_float(t, "gamma"));
    tr_give(t, 0, tr_make(t, "Muls", elu));
}

static uint32_t shifted(struct translation *t, uint32_t x, double by)
{
    tr_set_float(t, "value", by);
    return tr_make(t, "Adds", x);
}

static void make_shrink(struct translation *t)
{
    uint32_t x = tr_operand(t, 0);
    enum dtype dtype = tr_need_dtype(t, x);
    double bias = tr_float(t, "bias"), limit = tr_float(t, "lambd");
    if (!tr_is_float(t, x))
        tr_refuse(t, "its operand is %s", dtype_info(dtype)->name);
    uint32_t below = tr_make(t, "Less", x, tr_const(t, "low", dtype, -limit));
    uint32_t above = tr_make(t, "Greater", x, tr_const(t, "high", dtype, limit));
    uint32_t rest =
        tr_make(t, "SelectV2", above, shifted(t, x, -bias), tr_const(t, "zero", dtype, 0));
    tr_give(t, 0, tr_make(t, "SelectV2", below, shifted(t, x, bias), rest));
}

/* ---------------------------------------------------------------------------- casts ---- */

static void cast(struct translation *t, enum dtype to)
{
    enum dtype_class class = dtype_info(to)->class;
    enum dtype from = tr_need_dtype(t, tr_operand(t, 0));
    if (class == CLASS_HANDLE || dtype_info(from)->class == CLASS_HANDLE ||
        dtype_info(to)->bits < 8 || dtype_info(from)->bits < 8 ||
        (class == CLASS_FLOAT && dtype_info(to)->bits == 8))
        tr_refuse(t, "it casts %s to %s", dtype_info(from)->name, dtype_info(to)->name);
    tr_set_dtype(t, "dst_type", to);
    tr_give(t, 0, tr_make(t, "Cast", tr_operand(t, 0)));
}

static void make_cast(struct translation *t)
{
    enum dtype to;
    if (onnx_dtype(t, tr_int(t, "to"), &to))
        cast(t, to);
}

static void make_cast_like(struct translation *t)
{
    cast(t, tr_need_dtype(t, tr_operand(t, 1)));
}

/* ----------------------------------------------------------------------------- rows ---- */

const struct translation_row onnx_elementwise[] = {
    {"Abs", 1, .to = "Abs"},
    {"Acos", 7, .to = "Acos"},
    {"Acosh", 9, .to = "Acosh"},
    {"Add", 7, .to = "Add"},
    {"And", 7, .to = "LogicalAnd"},
    {"Asin", 7, .to = "Asin"},
    {"Asinh", 9, .to = "Asinh"},
    {"Atan", 7, .to = "Atan"},
    {"Atanh", 9, .to = "Atanh"},
    {"BitShift", 11, .to = "LeftShift, RightShift", .make = make_shift,
     .attrs = {{"direction", OF_TEXT, NULL, NULL, "LEFT|RIGHT"}}},
    {"BitwiseAnd", 18, .to = "BitwiseAnd"},
    {"BitwiseNot", 18, .to = "Invert"},
    {"BitwiseOr", 18, .to = "BitwiseOr"},
    {"BitwiseXor", 18, .to = "BitwiseXor"},
    {"Cast", 6, .to = "Cast", .make = make_cast,
     .attrs = {{"to", OF_INT, NULL, NULL}, {"saturate", OF_INT, "1", NULL}},
     .about = "floats become integers by truncation; no strings, no floats of 8 bits"},
    {"CastLike", 15, .to = "Cast", .make = make_cast_like,
     .attrs = {{"saturate", OF_INT, "1", NULL}},
     .about = "as Cast, where the data type of the second operand is known"},
    {"Ceil", 1, .to = "Ceil"},
    {"Celu", 12, .to = "CeluV2", .attrs = {{"alpha", OF_FLOAT, "1", "alpha"}}},
    {"Clip", 6, .until = 10, .to = "Maximum, Minimum, ClipByValue", .make = make_old_clip,
     .attrs = {{"min", OF_FLOAT, NULL, NULL}, {"max", OF_FLOAT, NULL, NULL}},
     .about = "the bounds are constants"},
    {"Clip", 11, .to = "Maximum, Minimum, ClipByValue", .make = make_clip,
     .about = "by which bounds it has"},
    {"Cos", 7, .to = "Cos"},
    {"Cosh", 9, .to = "Cosh"},
    {"Div", 7, .to = "Div, TruncateDiv", .make = make_div,
     .about = "of integers the quotient is truncated; the data type must be known"},
    {"Elu", 6, .to = "Elu", .attrs = {{"alpha", OF_FLOAT, "1", "alpha"}}},
    {"Equal", 7, .to = "Equal"},
    {"Erf", 9, .to = "Erf"},
    {"Exp", 1, .to = "Exp"},
    {"Floor", 1, .to = "Floor"},
    {"Gelu", 20, .to = "GeluV2",
     .attrs = {{"approximate", OF_TEXT, "none", "approximate", "none|tanh"}}},
    {"Greater", 7, .to = "Greater"},
    {"GreaterOrEqual", 12, .to = "GreaterEqual"},
    {"HardSigmoid", 6, .to = "HardSigmoid",
     .attrs = {{"alpha", OF_FLOAT, "0.2", "alpha"}, {"beta", OF_FLOAT, "0.5", "beta"}}},
    {"HardSwish", 14, .to = "HardSwish"},
    {"IsInf", 10, .to = "IsInf, LogicalAnd", .make = make_is_inf,
     .attrs = {{"detect_negative", OF_BOOL, "1", NULL}, {"detect_positive", OF_BOOL, "1", NULL}},
     .about = "with Greater or Less where only one sign counts"},
    {"IsNaN", 9, .to = "IsNan"},
    {"LeakyRelu", 6, .to = "LeakyRelu", .attrs = {{"alpha", OF_FLOAT, "0.01", "negative_slope"}}},
    {"Less", 7, .to = "Less"},
    {"LessOrEqual", 12, .to = "LessEqual"},
    {"Log", 1, .to = "Log"},
    {"Max", 1, .to = "Maximum", .make = make_max, .about = "one for every operand after the first"},
    {"Mean", 1, .to = "Add, Div", .make = make_mean,
     .about = "the sum by the number of operands; the data type must be known"},
    {"Min", 1, .to = "Minimum", .make = make_min, .about = "one for every operand after the first"},
    {"Mish", 18, .to = "Mish"},
    {"Mod", 10, .to = "FloorMod, Mod", .make = make_mod, .attrs = {{"fmod", OF_BOOL, "0", NULL}},
     .about = "Mod, with the sign of the dividend, where `fmod` is 1; else integers only"},
    {"Mul", 7, .to = "Mul"},
    {"Neg", 1, .to = "Neg"},
    {"Not", 1, .to = "LogicalNot"},
    {"Or", 7, .to = "LogicalOr"},
    {"PRelu", 7, .to = "Less, Mul, SelectV2", .make = make_prelu,
     .about = "the data type must be known"},
    {"Pow", 7, .to = "Pow", .make = make_pow,
     .about = "of mixed data types with Cast; the data types must be known"},
    {"Reciprocal", 1, .to = "Reciprocal"},
    {"Relu", 1, .to = "Relu"},
    {"Round", 11, .to = "Round"},
    {"Selu", 6, .to = "Elu, Muls", .make = make_selu,
     .attrs = {{"alpha", OF_FLOAT, "1.67326319217681884765625", NULL},
               {"gamma", OF_FLOAT, "1.05070102214813232421875", NULL}}},
    {"Shrink", 9, .to = "Less, Greater, Adds, SelectV2", .make = make_shrink,
     .attrs = {{"bias", OF_FLOAT, "0", NULL}, {"lambd", OF_FLOAT, "0.5", NULL}},
     .about = "floats only"},
    {"Sigmoid", 1, .to = "Sigmoid"},
    {"Sign", 9, .to = "Sign"},
    {"Sin", 7, .to = "Sin"},
    {"Sinh", 9, .to = "Sinh"},
    {"Softplus", 1, .to = "Softplus"},
    {"Softsign", 1, .to = "Softsign"},
    {"Sqrt", 1, .to = "Sqrt"},
    {"Sub", 7, .to = "Sub"},
    {"Sum", 1, .to = "Add", .make = make_sum, .about = "one for every operand after the first"},
    {"Tan", 7, .to = "Tan"},
    {"Tanh", 1, .to = "Tanh"},
    {"ThresholdedRelu", 10, .to = "ThresholdedRelu", .attrs = {{"alpha", OF_FLOAT, "1", "alpha"}}},
    {"Where", 9, .to = "SelectV2"},
    {"Xor", 7, .to = "NotEqual"},
    {NULL},
};
