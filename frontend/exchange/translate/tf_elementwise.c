/* Operators of TensorFlow on elements. */
#include "frontend/exchange/translate/tf_rows.h"

/* Division of integers truncates. */
static void make_div(struct translation *t)
{
    uint32_t x = tr_operand(t, 0), y = tr_operand(t, 1);
    bool integers = dtype_info(tr_need_dtype(t, x))->class != CLASS_FLOAT;
    tr_give(t, 0, tr_make(t, integers ? "TruncateDiv" : "Div", x, y));
}

static void need_float(struct translation *t, uint32_t value)
{
    enum dtype dtype = tr_need_dtype(t, value);
    if (!tr_is_float(t, value))
        tr_refuse(t, "its operand is %s, not a float", dtype_info(dtype)->name);
}

static void make_real_div(struct translation *t)
{
    uint32_t x = tr_operand(t, 0);
    need_float(t, x);
    tr_give(t, 0, tr_make(t, "RealDiv", x, tr_operand(t, 1)));
}

/* Integers are rounded already. */
static void make_round(struct translation *t)
{
    uint32_t x = tr_operand(t, 0);
    tr_need_dtype(t, x);
    tr_give(t, 0, tr_is_float(t, x) ? tr_make(t, "Round", x) : x);
}

static bool is_complex(unsigned dtype)
{
    return dtype == DTYPE_c64 || dtype == DTYPE_c128;
}

static void make_cast(struct translation *t)
{
    uint32_t x = tr_operand(t, 0);
    enum dtype from = tr_need_dtype(t, x), to = tr_dtype_of(t, "DstT");
    if (is_complex(from) || is_complex(to))
        tr_refuse(t, "it converts complex numbers");
    tr_give(t, 0, tr_cast(t, x, to));
}

/* A condition of one dimension chooses rows. */
static void make_select(struct translation *t)
{
    uint32_t condition = tr_operand(t, 0), x = tr_operand(t, 1), y = tr_operand(t, 2);
    uint32_t rank = tr_need_rank(t, condition), of_x = tr_need_rank(t, x);
    int64_t dims[MAX_RANK] = {-1};
    for (uint32_t i = 1; i < of_x; i++)
        dims[i] = 1;
    if (rank == 1 && of_x > 1)
        condition = tr_reshape(t, condition, (struct tr_ints){dims, of_x});
    else if (rank != 0 && rank != of_x)
        tr_refuse(t, "the condition has %u dimensions, the operands have %u", rank, of_x);
    tr_give(t, 0, tr_make(t, "SelectV2", condition, x, y));
}

static void make_approximate_equal(struct translation *t)
{
    uint32_t x = tr_operand(t, 0);
    need_float(t, x);
    uint32_t distance = tr_make(t, "Abs", tr_make(t, "Sub", x, tr_operand(t, 1)));
    uint32_t tolerance = tr_const(t, "tolerance", tr_need_dtype(t, x), tr_float(t, "tolerance"));
    tr_give(t, 0, tr_make(t, "Less", distance, tolerance));
}

/* 0 where `factor` is, whatever the product is. */
static void give_unless_zero(struct translation *t, uint32_t factor, uint32_t product)
{
    uint32_t zero = tr_const(t, "zero", tr_need_dtype(t, factor), 0);
    tr_give(t, 0, tr_make(t, "SelectV2", tr_make(t, "Equal", factor, zero), zero, product));
}

static void make_mul_no_nan(struct translation *t)
{
    uint32_t y = tr_operand(t, 1);
    give_unless_zero(t, y, tr_make(t, "Mul", tr_operand(t, 0), y));
}

static void make_xlog1py(struct translation *t)
{
    uint32_t x = tr_operand(t, 0);
    enum dtype dtype = tr_need_dtype(t, x);
    uint32_t logarithm = tr_make(t, "Log1p", tf_widened(t, tr_operand(t, 1)));
    uint32_t product = tr_make(t, "Mul", tf_widened(t, x), logarithm);
    give_unless_zero(t, x, tr_cast(t, product, dtype));
}

/* A scalar in the shape of the operand. */
static void make_alike(struct translation *t, double number)
{
    struct tr_ints dims;
    uint32_t x = tr_operand(t, 0), scalar = tr_const(t, "number", tr_need_dtype(t, x), number);
    if (tr_dims(t, x, &dims)) {
        tr_set_ints(t, "shape", dims);
        tr_give(t, 0, tr_make(t, "BroadcastToD", scalar));
        return;
    }
    tr_set_dtype(t, "dtype", DTYPE_i64);
    tr_give(t, 0, tr_make(t, "BroadcastTo", scalar, tr_make(t, "Shape", x)));
}

static void make_zeros(struct translation *t)
{
    make_alike(t, 0);
}

static void make_ones(struct translation *t)
{
    make_alike(t, 1);
}

#define SAME(name)                                                                                 \
    {                                                                                              \
        name, .to = name                                                                           \
    }
#define AS(name, target)                                                                           \
    {                                                                                              \
        name, .to = target                                                                         \
    }
#define EQUALITY(name)                                                                             \
    {                                                                                              \
        name, .to = name, .attrs = {{"incompatible_shape_error", OF_BOOL, "1"}},                   \
              .about = "shapes that cannot be broadcast are refused"                               \
    }

const struct translation_row tf_elementwise[] = {
    SAME("Abs"),
    SAME("Acos"),
    SAME("Acosh"),
    SAME("Add"),
    AS("AddV2", "Add"),
    {"ApproximateEqual", .to = "Sub, Abs, Less", .make = make_approximate_equal,
     .attrs = {{"tolerance", OF_FLOAT, "1e-05"}}, .about = "of floats"},
    SAME("Asin"),
    SAME("Asinh"),
    SAME("Atan"),
    SAME("Atan2"),
    SAME("Atanh"),
    SAME("BitwiseAnd"),
    SAME("BitwiseOr"),
    SAME("BitwiseXor"),
    {"Cast", .to = "Cast", make_cast, {{"DstT", OF_DTYPE}, {"Truncate", OF_BOOL, "0", NULL, "0"}}},
    SAME("Ceil"),
    SAME("ClipByValue"),
    SAME("Cos"),
    SAME("Cosh"),
    {"Div", .to = "Div, TruncateDiv", make_div, .about = "TruncateDiv for integers"},
    SAME("DivNoNan"),
    {"Elu", .to = "Elu", .attrs = {{NULL, OF_FLOAT, "1", "alpha"}}},
    EQUALITY("Equal"),
    SAME("Erf"),
    SAME("Erfc"),
    SAME("Exp"),
    SAME("Expm1"),
    SAME("Floor"),
    SAME("FloorDiv"),
    SAME("FloorMod"),
    SAME("Greater"),
    SAME("GreaterEqual"),
    AS("Inv", "Reciprocal"),
    SAME("Invert"),
    SAME("IsFinite"),
    SAME("IsInf"),
    SAME("IsNan"),
    {"LeakyRelu", .to = "LeakyRelu", .attrs = {{"alpha", OF_FLOAT, "0.2", "negative_slope"}}},
    SAME("LeftShift"),
    SAME("Less"),
    SAME("LessEqual"),
    SAME("Log"),
    SAME("Log1p"),
    SAME("LogicalAnd"),
    SAME("LogicalNot"),
    SAME("LogicalOr"),
    SAME("Maximum"),
    SAME("Minimum"),
    SAME("Mod"),
    SAME("Mul"),
    {"MulNoNan", .to = "Mul, Equal, SelectV2", .make = make_mul_no_nan},
    SAME("Neg"),
    EQUALITY("NotEqual"),
    {"OnesLike", .to = "BroadcastTo", make_ones},
    SAME("Pow"),
    {"RealDiv", .to = "RealDiv", make_real_div, .about = "of floats"},
    SAME("Reciprocal"),
    SAME("Relu"),
    SAME("Relu6"),
    SAME("RightShift"),
    SAME("Rint"),
    {"Round", .to = "Round", make_round, .about = "Identity of integers"},
    SAME("Rsqrt"),
    {"Select", .to = "SelectV2", make_select,
     .about = "a condition of one dimension chooses rows; the ranks must be known"},
    SAME("SelectV2"),
    SAME("Selu"),
    SAME("Sigmoid"),
    SAME("Sign"),
    SAME("Sin"),
    SAME("Sinh"),
    SAME("Softplus"),
    SAME("Softsign"),
    SAME("Sqrt"),
    SAME("Square"),
    SAME("SquaredDifference"),
    SAME("Sub"),
    SAME("Tan"),
    SAME("Tanh"),
    SAME("TruncateDiv"),
    SAME("TruncateMod"),
    SAME("Xdivy"),
    {"Xlog1py", .to = "Log1p, Mul, Equal, SelectV2", .make = make_xlog1py},
    SAME("Xlogy"),
    {"ZerosLike", .to = "BroadcastTo", make_zeros},
    {NULL},
};
