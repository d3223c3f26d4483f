/* Operators of ONNX on elements, reductions, and those that give constants, call graphs or hand
 * values on. */
#include "frontend/import/translate/rows.h"

#include <string.h>

/* --------------------------------------------------------------------------- control ---- */

/* What the reader calls `value`, whichever of the attributes says it. */
static void make_constant(struct translation *t)
{
    struct attr_value value;
    if (t->n_results != 1 || t->results[0].type == NONE) {
        tr_refuse(t, "its type is not known");
        return;
    }
    if (tr_value(t, "value", &value))
        tr_set(t, "value", value);
    t->next_type = t->results[0].type;
    tr_give(t, 0, tr_make_source(t, "Const"));
}

static void make_dropout(struct translation *t)
{
    struct attr_value training;
    uint32_t mode = t->row->until ? NONE : tr_optional(t, 2);
    if (mode != NONE && (!tr_number(t, mode, &training) || training.i != 0))
        tr_refuse(t, "it may be in training mode");
    tr_give(t, 0, tr_operand(t, 0));
}

/* The operands after the condition are those of the graphs. */
static void make_if(struct translation *t)
{
    uint32_t unknown = 0;
    tr_map_attrs(t);
    for (uint32_t i = 0; i < t->n_operands; i++)
        unknown += t->operands[i] == NONE;
    if (unknown)
        tr_refuse(t, "an operand is absent");
    tr_give_all(t, tr_op(t, "If", t->operands, t->n_operands, t->n_results));
}

static const struct translation_row onnx_control[] = {
    {"Constant", 1, .to = "Const", .make = make_constant, .attrs = {ANY("value", NULL, "value")},
     .about = "also of `value_int`, `value_ints`, `value_float` and `value_floats`; no strings"},
    {"Dropout", 7, .until = 11, .to = "Identity", .make = make_dropout,
     .attrs = {FLOAT("ratio", "0.5")}, .about = "without the mask"},
    {"Dropout", 12, .to = "Identity", .make = make_dropout, .attrs = {INT("seed")},
     .about = "without the mask, where `training_mode` is absent or a constant false"},
    {"Identity", 1, .to = "Identity"},
    {"If", 1, .to = "If", .make = make_if,
     .attrs = {ANY("then_branch", NULL, "then_branch"), ANY("else_branch", NULL, "else_branch")},
     .about = "values of the outer graph become operands"},
    {NULL},
};

/* ------------------------------------------------------------------------ variadic ---- */

/* All operands, two by two. */
static uint32_t fold(struct translation *t, const char *type)
{
    uint32_t value = tr_operand(t, 0);
    for (uint32_t i = 1; i < t->n_operands; i++)
        value = tr_make(t, type, value, tr_operand(t, i));
    return value;
}

static void make_fold(struct translation *t)
{
    tr_give(t, 0, fold(t, t->row->to));
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

/* A bound is an operand, or in older operator sets an attribute. */
static uint32_t bound(struct translation *t, uint32_t operand, const char *attr)
{
    if (!t->row->until)
        return tr_optional(t, operand);
    enum dtype dtype = tr_need_dtype(t, tr_operand(t, 0));
    return tr_has(t, attr) ? tr_const(t, attr, dtype, tr_float(t, attr)) : NONE;
}

static void make_clip(struct translation *t)
{
    uint32_t x = tr_operand(t, 0);
    tr_most_operands(t, t->row->until ? 1 : 3);
    uint32_t low = bound(t, 1, "min"), high = bound(t, 2, "max");
    if (low != NONE && high != NONE)
        x = tr_make(t, "ClipByValue", x, low, high);
    else if (low != NONE)
        x = tr_make(t, "Maximum", x, low);
    else if (high != NONE)
        x = tr_make(t, "Minimum", x, high);
    tr_give(t, 0, x);
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

/* The data type is an attribute, or that of the second operand. */
static void make_cast(struct translation *t)
{
    enum dtype to, from;
    if (strcmp(t->row->op, "CastLike") == 0)
        to = tr_need_dtype(t, tr_operand(t, 1));
    else if (!onnx_dtype(t, tr_int(t, "to"), &to))
        return;
    from = tr_need_dtype(t, tr_operand(t, 0));
    enum dtype_class class = dtype_info(to)->class;
    if (class == CLASS_HANDLE || dtype_info(from)->class == CLASS_HANDLE ||
        dtype_info(to)->bits < 8 || dtype_info(from)->bits < 8 ||
        (class == CLASS_FLOAT && dtype_info(to)->bits == 8))
        tr_refuse(t, "it casts %s to %s", dtype_info(from)->name, dtype_info(to)->name);
    tr_set_dtype(t, "dst_type", to);
    tr_give(t, 0, tr_make(t, "Cast", tr_operand(t, 0)));
}

/* ----------------------------------------------------------------------------- rows ---- */

/* Operators that GE has by the same name, with the same operands and results, and the version since
 * which they mean that. */
/* clang-format off */
#define SAME_OPERATORS(SAME)                                                                       \
    SAME(Abs, 1) SAME(Acos, 7) SAME(Acosh, 9) SAME(Add, 7) SAME(Asin, 7) SAME(Asinh, 9)            \
    SAME(Atan, 7) SAME(Atanh, 9) SAME(BitwiseAnd, 18) SAME(BitwiseOr, 18) SAME(BitwiseXor, 18)     \
    SAME(Ceil, 1) SAME(Cos, 7) SAME(Cosh, 9) SAME(Equal, 7) SAME(Erf, 9) SAME(Exp, 1)              \
    SAME(Floor, 1) SAME(Greater, 7) SAME(HardSwish, 14) SAME(Less, 7) SAME(Log, 1) SAME(Mish, 18)  \
    SAME(Mul, 7) SAME(Neg, 1) SAME(Reciprocal, 1) SAME(Relu, 1) SAME(Round, 11) SAME(Sigmoid, 1)   \
    SAME(Sign, 9) SAME(Sin, 7) SAME(Sinh, 9) SAME(Softplus, 1) SAME(Softsign, 1) SAME(Sqrt, 1)     \
    SAME(Sub, 7) SAME(Tan, 7) SAME(Tanh, 1)
#define SAME_ROW(name, since) {#name, since, .to = #name},
/* clang-format on */
static const struct translation_row onnx_same[] = {
    SAME_OPERATORS(SAME_ROW) AS("And", 7, "LogicalAnd"),
    AS("BitwiseNot", 18, "Invert"),
    AS("GreaterOrEqual", 12, "GreaterEqual"),
    AS("IsNaN", 9, "IsNan"),
    AS("LessOrEqual", 12, "LessEqual"),
    AS("Not", 1, "LogicalNot"),
    AS("Or", 7, "LogicalOr"),
    AS("Where", 9, "SelectV2"),
    AS("Xor", 7, "NotEqual"),
    {NULL},
};

static const struct translation_row onnx_elementwise[] = {
    {"BitShift", 11, .to = "LeftShift, RightShift", .make = make_shift,
     .attrs = {TEXT("direction", NULL, NULL, "LEFT|RIGHT")}},
    {"Cast", 6, .to = "Cast", .make = make_cast, .attrs = {INT("to"), INT("saturate", "1")},
     .about = "floats become integers by truncation; no strings, no floats of 8 bits"},
    {"CastLike", 15, .to = "Cast", .make = make_cast, .attrs = {INT("saturate", "1")},
     .about = "as Cast, where the data type of the second operand is known"},
    {"Celu", 12, .to = "CeluV2", .attrs = {FLOAT("alpha", "1", "alpha")}},
    {"Clip", 6, .until = 10, .to = "Maximum, Minimum, ClipByValue", .make = make_clip,
     .attrs = {FLOAT("min"), FLOAT("max")}, .about = "the bounds are constants"},
    {"Clip", 11, .to = "Maximum, Minimum, ClipByValue", .make = make_clip,
     .about = "by which bounds it has"},
    {"Div", 7, .to = "Div, TruncateDiv", .make = make_div,
     .about = "of integers the quotient is truncated; the data type must be known"},
    {"Elu", 6, .to = "Elu", .attrs = {FLOAT("alpha", "1", "alpha")}},
    {"Gelu", 20, .to = "GeluV2",
     .attrs = {TEXT("approximate", "none", "approximate", "none|tanh")}},
    {"HardSigmoid", 6, .to = "HardSigmoid",
     .attrs = {FLOAT("alpha", "0.2", "alpha"), FLOAT("beta", "0.5", "beta")}},
    {"IsInf", 10, .to = "IsInf, LogicalAnd", .make = make_is_inf,
     .attrs = {BOOL("detect_negative", "1"), BOOL("detect_positive", "1")},
     .about = "with Greater or Less where only one sign counts"},
    {"LeakyRelu", 6, .to = "LeakyRelu", .attrs = {FLOAT("alpha", "0.01", "negative_slope")}},
    {"Max", 1, .to = "Maximum", .make = make_fold,
     .about = "one for every operand after the first"},
    {"Mean", 1, .to = "Add, Div", .make = make_mean,
     .about = "the sum by the number of operands; the data type must be known"},
    {"Min", 1, .to = "Minimum", .make = make_fold,
     .about = "one for every operand after the first"},
    {"Mod", 10, .to = "FloorMod, Mod", .make = make_mod, .attrs = {BOOL("fmod", "0")},
     .about = "Mod, with the sign of the dividend, where `fmod` is 1; else integers only"},
    {"PRelu", 7, .to = "Less, Mul, SelectV2", .make = make_prelu,
     .about = "the data type must be known"},
    {"Pow", 7, .to = "Pow", .make = make_pow,
     .about = "of mixed data types with Cast; the data types must be known"},
    {"Selu", 6, .to = "Elu, Muls", .make = make_selu,
     .attrs = {FLOAT("alpha", "1.67326319217681884765625"),
               FLOAT("gamma", "1.05070102214813232421875")}},
    {"Shrink", 9, .to = "Less, Greater, Adds, SelectV2", .make = make_shrink,
     .attrs = {FLOAT("bias", "0"), FLOAT("lambd", "0.5")}, .about = "floats only"},
    {"Sum", 1, .to = "Add", .make = make_fold, .about = "one for every operand after the first"},
    {"ThresholdedRelu", 10, .to = "ThresholdedRelu", .attrs = {FLOAT("alpha", "1", "alpha")}},
    {NULL},
};

/* ------------------------------------------------------------------------ reductions ---- */

/* Before operator set 18 (of ReduceSum, 13) the axes are an attribute, then an operand. */
static bool has_axes_attr(const struct translation *t)
{
    return t->row->until != 0;
}

/* What is reduced along: an operand of the node, or a constant. NONE: x stays as it is. */
static uint32_t axes_of(struct translation *t, uint32_t x, bool *none_is_all)
{
    uint32_t axes = has_axes_attr(t) ? NONE : tr_optional(t, 1);
    *none_is_all = has_axes_attr(t) || !tr_int(t, "noop_with_empty_axes");
    if (axes != NONE)
        return axes;
    if (has_axes_attr(t) && tr_has(t, "axes"))
        return tr_const_ints(t, "axes", tr_ints(t, "axes"));
    return *none_is_all ? tr_const_ints(t, "axes", tr_range(t, 0, tr_need_rank(t, x))) : NONE;
}

static uint32_t reduce(struct translation *t, const char *type, uint32_t x)
{
    bool none_is_all;
    uint32_t axes = axes_of(t, x, &none_is_all);
    if (axes == NONE)
        return x;
    tr_set_flag(t, "keep_dims", tr_int(t, "keepdims"));
    tr_set_flag(t, "noop_with_empty_axes", !none_is_all);
    return tr_make(t, type, x, axes);
}

/* An operator that also changes elements does so even where there is nothing to add up; operator
 * sets differ in that. */
static void refuse_noop(struct translation *t)
{
    struct tr_ints axes;
    uint32_t operand = has_axes_attr(t) ? NONE : tr_optional(t, 1);
    bool none =
        operand == NONE ? !has_axes_attr(t) : !tr_contents(t, operand, &axes) || !axes.count;
    if (none && !has_axes_attr(t) && tr_int(t, "noop_with_empty_axes"))
        tr_refuse(t, "attribute 'noop_with_empty_axes' is 1, and it may have no axes");
}

/* The ops of the row, one after the other, of which one reduces. */
static void make_reduce(struct translation *t)
{
    uint32_t x = tr_operand(t, 0);
    if (strchr(t->row->to, ',') || strcmp(t->row->to, "ReduceLogSumExp") == 0)
        refuse_noop(t);
    for (const char *at = t->row->to; *at; at += strspn(at, ", ")) {
        size_t size = strcspn(at, ",");
        const char *type = arena_strndup(&t->translator->arena, at, size);
        x = strncmp(type, "Reduce", 6) == 0 ? reduce(t, type, x) : tr_make(t, type, x);
        at += size;
    }
    tr_give(t, 0, x);
}

/* All dimensions after the first two as one number. */
static void make_pool(struct translation *t)
{
    uint32_t x = tr_operand(t, 0);
    uint32_t axes = tr_const_ints(t, "axes", tr_range(t, 2, tr_need_rank(t, x)));
    tr_set_flag(t, "keep_dims", true);
    tr_give(t, 0, tr_make(t, t->row->to, x, axes));
}

/* The two rows of a reduction, whose axes are an operand from `since` on. */
#define REDUCTION(op, since, to_)                                                                  \
    {op,                                                                                           \
     1,                                                                                            \
     .until = (since)-1,                                                                           \
     .to = to_,                                                                                    \
     .make = make_reduce,                                                                          \
     .attrs = {INTS("axes"), BOOL("keepdims", "1", "keep_dims")},                                  \
     .about = "without axes the rank must be known"},                                              \
    {                                                                                              \
        op, since, .to = to_, .make = make_reduce,                                                 \
                   .attrs = {BOOL("keepdims", "1", "keep_dims"),                                   \
                             BOOL("noop_with_empty_axes", "0", "noop_with_empty_axes")},           \
                   .about = "without axes the rank must be known"                                  \
    }

static const struct translation_row onnx_reduce[] = {
    {"GlobalAveragePool", 1, .to = "ReduceMean", .make = make_pool,
     .about = "the rank must be known"},
    {"GlobalMaxPool", 1, .to = "ReduceMax", .make = make_pool, .about = "the rank must be known"},
    REDUCTION("ReduceL1", 18, "Abs, ReduceSum"),
    REDUCTION("ReduceL2", 18, "Square, ReduceSum, Sqrt"),
    REDUCTION("ReduceLogSum", 18, "ReduceSum, Log"),
    REDUCTION("ReduceLogSumExp", 18, "ReduceLogSumExp"),
    REDUCTION("ReduceMax", 18, "ReduceMax"),
    REDUCTION("ReduceMean", 18, "ReduceMean"),
    REDUCTION("ReduceMin", 18, "ReduceMin"),
    REDUCTION("ReduceProd", 18, "ReduceProd"),
    REDUCTION("ReduceSum", 13, "ReduceSum"),
    REDUCTION("ReduceSumSquare", 18, "Square, ReduceSum"),
    {NULL},
};

/* ----------------------------------------------------------------------------- table ---- */

static const struct translation_row *const families[] = {
    onnx_control, onnx_elementwise, onnx_index, onnx_matrix, onnx_norm,
    onnx_reduce,  onnx_same,        onnx_shape, NULL};

const struct translation_table onnx_table = {"onnx", "opsets", 23, families, NULL};
