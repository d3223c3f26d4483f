/* Operators of TensorFlow on elements and along axes, those that give what they take, and
 * variables. */
#include "frontend/import/translate/rows.h"

#include <string.h>

/* Refuses the node where the data type is none of floats. */
static void need_float(struct translation *t, uint32_t value)
{
    enum dtype dtype = tr_need_dtype(t, value);
    if (!tr_is_float(t, value))
        tr_refuse(t, "its operand is %s, not a float", dtype_info(dtype)->name);
}

/* A float of 16 bits as f32, for ops whose results would be rounded in between. */
static uint32_t widened(struct translation *t, uint32_t value)
{
    unsigned dtype = tr_dtype(t, value);
    return dtype == DTYPE_f16 || dtype == DTYPE_bf16 ? tr_cast(t, value, DTYPE_f32) : value;
}

/* Division of integers truncates. */
static void make_div(struct translation *t)
{
    uint32_t x = tr_operand(t, 0), y = tr_operand(t, 1);
    bool integers = dtype_info(tr_need_dtype(t, x))->class != CLASS_FLOAT;
    tr_give(t, 0, tr_make(t, integers ? "TruncateDiv" : "Div", x, y));
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
    uint32_t logarithm = tr_make(t, "Log1p", widened(t, tr_operand(t, 1)));
    uint32_t product = tr_make(t, "Mul", widened(t, x), logarithm);
    give_unless_zero(t, x, tr_cast(t, product, dtype));
}

/* A scalar in the shape of the operand. */
static void make_alike(struct translation *t)
{
    struct tr_ints dims;
    uint32_t x = tr_operand(t, 0);
    bool ones = strcmp(t->row->op, "OnesLike") == 0;
    uint32_t scalar = tr_const(t, "number", tr_need_dtype(t, x), ones);
    if (tr_dims(t, x, &dims)) {
        tr_set_ints(t, "shape", dims);
        tr_give(t, 0, tr_make(t, "BroadcastToD", scalar));
        return;
    }
    tr_set_dtype(t, "dtype", DTYPE_i64);
    tr_give(t, 0, tr_make(t, "BroadcastTo", scalar, tr_make(t, "Shape", x)));
}

#define EQUALITY(name)                                                                             \
    name, .to = name, .attrs = {BOOL("incompatible_shape_error", "1")},                            \
          .about = "shapes that cannot be broadcast are refused"

/* Operators that GE has by the same name, with the same operands and results. */
/* clang-format off */
#define SAME_OPERATORS(SAME)                                                                       \
    SAME(Abs) SAME(Acos) SAME(Acosh) SAME(Add) SAME(Asin) SAME(Asinh) SAME(Atan) SAME(Atan2)       \
    SAME(Atanh) SAME(BitwiseAnd) SAME(BitwiseOr) SAME(BitwiseXor) SAME(Ceil) SAME(ClipByValue)     \
    SAME(Cos) SAME(Cosh) SAME(DivNoNan) SAME(Erf) SAME(Erfc) SAME(Exp) SAME(Expm1) SAME(Floor)     \
    SAME(FloorDiv) SAME(FloorMod) SAME(Greater) SAME(GreaterEqual) SAME(Invert) SAME(IsFinite)     \
    SAME(IsInf) SAME(IsNan) SAME(LeftShift) SAME(Less) SAME(LessEqual) SAME(Log) SAME(Log1p)       \
    SAME(LogicalAnd) SAME(LogicalNot) SAME(LogicalOr) SAME(Maximum) SAME(Minimum) SAME(Mod)        \
    SAME(Mul) SAME(Neg) SAME(Pow) SAME(Reciprocal) SAME(Relu) SAME(Relu6) SAME(RightShift)         \
    SAME(Rint) SAME(Rsqrt) SAME(SelectV2) SAME(Selu) SAME(Sigmoid) SAME(Sign) SAME(Sin) SAME(Sinh) \
    SAME(Softplus) SAME(Softsign) SAME(Sqrt) SAME(Square) SAME(SquaredDifference) SAME(Sub)        \
    SAME(Tan) SAME(Tanh) SAME(TruncateDiv) SAME(TruncateMod) SAME(Xdivy) SAME(Xlogy)
#define SAME_ROW(name) {#name, .to = #name},
/* clang-format on */
static const struct translation_row tf_same[] = {
    SAME_OPERATORS(SAME_ROW) AS("AddV2", 0, "Add"),
    AS("Inv", 0, "Reciprocal"),
    {NULL},
};

static const struct translation_row tf_elementwise[] = {
    {"ApproximateEqual", .to = "Sub, Abs, Less", .make = make_approximate_equal,
     .attrs = {FLOAT("tolerance", "1e-05")}, .about = "of floats"},
    {"Cast", .to = "Cast", make_cast, {DTYPE("DstT"), BOOL("Truncate", "0", NULL, "0")}},
    {"Div", .to = "Div, TruncateDiv", make_div, .about = "TruncateDiv for integers"},
    {"Elu", .to = "Elu", .attrs = {FLOAT(NULL, "1", "alpha")}},
    {EQUALITY("Equal")},
    {"LeakyRelu", .to = "LeakyRelu", .attrs = {FLOAT("alpha", "0.2", "negative_slope")}},
    {"MulNoNan", .to = "Mul, Equal, SelectV2", .make = make_mul_no_nan},
    {EQUALITY("NotEqual")},
    {"OnesLike", .to = "BroadcastTo", make_alike},
    {"RealDiv", .to = "RealDiv", make_real_div, .about = "of floats"},
    {"Round", .to = "Round", make_round, .about = "Identity of integers"},
    {"Select", .to = "SelectV2", make_select,
     .about = "a condition of one dimension chooses rows; the ranks must be known"},
    {"Xlog1py", .to = "Log1p, Mul, Equal, SelectV2", .make = make_xlog1py},
    {"ZerosLike", .to = "BroadcastTo", make_alike},
    {NULL},
};

/* -------------------------------------------------------------------------- along axes ---- */

/* Of floats: the mean of integers would be cut, by rules of its own. */
static void make_mean(struct translation *t)
{
    uint32_t x = tr_operand(t, 0);
    need_float(t, x);
    tr_map_attrs(t);
    tr_give(t, 0, tr_make(t, "ReduceMean", x, tr_operand(t, 1)));
}

static void make_norm(struct translation *t)
{
    uint32_t x = tr_operand(t, 0);
    need_float(t, x);
    uint32_t squares = tr_make(t, "Square", widened(t, x));
    tr_map_attrs(t);
    uint32_t norm = tr_make(t, "Sqrt", tr_make(t, "ReduceSum", squares, tr_operand(t, 1)));
    tr_give(t, 0, tr_cast(t, norm, (enum dtype)tr_dtype(t, x)));
}

static void make_l2_loss(struct translation *t)
{
    int64_t axes[MAX_RANK];
    uint32_t x = tr_operand(t, 0), rank = tr_need_rank(t, x);
    enum dtype dtype = tr_need_dtype(t, x);
    for (uint32_t i = 0; i < rank; i++)
        axes[i] = i;
    uint32_t squares = tr_make(t, "Square", x);
    tr_set_ints(t, "axes", (struct tr_ints){axes, rank});
    uint32_t sum = tr_make(t, "ReduceSumD", squares);
    tr_give(t, 0, tr_make(t, "Mul", sum, tr_const(t, "half", dtype, 0.5)));
}

static void make_top_k(struct translation *t)
{
    uint32_t k = tr_const_int(t, "k", tr_int(t, "k"));
    tr_map_attrs(t);
    uint32_t first = tr_op(t, "TopKV2", (const uint32_t[]){tr_operand(t, 0), k}, 2, 2);
    tr_give(t, 0, first);
    tr_give(t, 1, first + 1);
}

/* Without axes TensorFlow reduces nothing. */
#define REDUCE_ATTRS                                                                               \
    .attrs = {BOOL("keep_dims", "0", "keep_dims"), BOOL(NULL, "1", "noop_with_empty_axes")}
#define RUNNING(name)                                                                              \
    name, .to = name,                                                                              \
          .attrs = {BOOL("exclusive", "0", "exclusive"), BOOL("reverse", "0", "reverse")}

static const struct translation_row tf_reductions[] = {
    {"All", .to = "ReduceAll", .attrs = {BOOL("keep_dims", "0", "keep_dims")}},
    {"Any", .to = "ReduceAny", .attrs = {BOOL("keep_dims", "0", "keep_dims")}},
    {"ArgMax", .to = "ArgMaxV2", .attrs = {DTYPE("output_type", "i64", "dtype")}},
    {"ArgMin", .to = "ArgMin", .attrs = {DTYPE("output_type", "i64", "dtype")}},
    {RUNNING("Cumprod")},
    {RUNNING("Cumsum")},
    {"EuclideanNorm", .to = "Square, ReduceSum, Sqrt", .make = make_norm, REDUCE_ATTRS,
     .about = "of floats"},
    {"L2Loss", .to = "Square, ReduceSumD, Mul", make_l2_loss, .about = "the rank must be known"},
    {"LogSoftmax", .to = "LogSoftmaxV2", .attrs = {INTS(NULL, "[-1]", "axes")}},
    {"Max", .to = "ReduceMax", REDUCE_ATTRS},
    {"Mean", .to = "ReduceMean", .make = make_mean, REDUCE_ATTRS, .about = "of floats"},
    {"Min", .to = "ReduceMin", REDUCE_ATTRS},
    {"Prod", .to = "ReduceProd", REDUCE_ATTRS},
    {"Softmax", .to = "SoftmaxV2", .attrs = {INTS(NULL, "[-1]", "axes")}},
    {"Sum", .to = "ReduceSum", REDUCE_ATTRS},
    {"TopK",
     .to = "TopKV2",
     make_top_k,
     {INT("k"), BOOL("sorted", "1", "sorted"), INT(NULL, "-1", "dim"), BOOL(NULL, "1", "largest"),
      DTYPE("index_type", "i32", "indices_dtype")}},
    {"TopKV2", .to = "TopKV2",
     .attrs = {BOOL("sorted", "1", "sorted"), INT(NULL, "-1", "dim"), BOOL(NULL, "1", "largest"),
               DTYPE("index_type", "i32", "indices_dtype")}},
    {NULL},
};

/* ------------------------------------------------------------------------ what is taken ---- */

static void make_same(struct translation *t)
{
    for (uint32_t i = 0; i < t->n_results; i++)
        tr_give(t, i, tr_operand(t, i));
}

static void make_nothing(struct translation *t)
{
    tr_op(t, "NoOp", NULL, 0, 0);
}

/* ------------------------------------------------------------------------ variables ---- */

static void make_variable(struct translation *t)
{
    static const char *const names[] = {"shared_name", "container"};
    struct attr_value value;
    enum dtype dtype = tr_dtype_of(t, "dtype");
    for (unsigned i = 0; i < 2; i++)
        if (tr_value(t, names[i], &value) && t->module->names.names[value.id].size > 0)
            tr_set(t, names[i], value);
    bool shaped = tr_value(t, "shape", &value) && value.kind == ATTR_TYPE;
    t->next_type =
        module_type(t->module, dtype, W_ND, shaped ? type_dims(t->module, value.id) : NULL,
                    shaped ? t->module->types.at[value.id].rank : RANK_UNKNOWN);
    tr_give(t, 0, tr_op(t, "Variable", NULL, 0, 1));
}

/* Whether an op may write to the value before what reads it now is used. */
static bool may_change(const struct translation *t, uint32_t value)
{
    return t->graph->values.at[value].def == DEF_PARAM ||
           (value < t->written->count && t->written->at[value]);
}

static void make_read(struct translation *t)
{
    uint32_t variable = tr_operand(t, 0);
    enum dtype dtype = tr_dtype_of(t, "dtype");
    if (tr_refused(t))
        return;
    t->next_type = module_type(t->module, dtype, W_ND, NULL, RANK_UNKNOWN);
    tr_give(t, 0, tr_make(t, may_change(t, variable) ? "TensorMove" : "Identity", variable));
}

/* What the op writes to is a result where the operator has one: after the op. */
static void make_update(struct translation *t)
{
    tr_op(t, t->row->to, t->operands, t->n_operands, 0);
    if (tr_refused(t) || t->n_results == 0)
        return;
    struct graph *graph = t->graph;
    uint32_t update = graph->ops.count - 1;
    uint32_t token =
        graph_add_value(graph, module_name(t->module, "done"), module_token(t->module), update);
    graph->ops.at[update].results = (struct range){token, 1};
    tr_give(t, 0, tr_make(t, "Identity", tr_operand(t, 0)));
    struct clauses clauses = {.after = graph_add_refs(graph, &token, 1)};
    if (!tr_refused(t))
        graph_set_clauses(graph, graph->ops.count - 1, clauses);
}

#define PASSES(name) name, .to = "Identity", .make = make_same
#define UPDATE(name, target)                                                                       \
    name, .to = target, .make = make_update,                                                       \
          .attrs = {DTYPE("dtype"), BOOL("validate_shape", "1"), BOOL("use_locking", "1"),         \
                    TEXT("bad_indices_policy", "", NULL, "|DEFAULT|ERROR")}
#define VARIABLE(name)                                                                             \
    name, .to = "Variable", .make = make_variable,                                                 \
          .attrs = {DTYPE("dtype"),      ANY("shape"),           TEXT("container"),                \
                    TEXT("shared_name"), ANY("allowed_devices"), TEXT("debug_name")}

static const struct translation_row tf_states[] = {
    {UPDATE("Assign", "Assign")},
    {UPDATE("AssignAdd", "AssignAdd")},
    {UPDATE("AssignSub", "AssignSub")},
    {UPDATE("AssignAddVariableOp", "AssignAdd")},
    {UPDATE("AssignSubVariableOp", "AssignSub")},
    {UPDATE("AssignVariableOp", "Assign")},
    {"ControlTrigger", .to = "NoOp", .make = make_nothing},
    {PASSES("CheckNumerics"), .attrs = {TEXT("message")}},
    {PASSES("EnsureShape"), .attrs = {ANY("shape")}},
    {PASSES("Identity")},
    {PASSES("IdentityN")},
    {"NoOp", .to = "NoOp", .make = make_nothing},
    {"PlaceholderWithDefault", .to = "Identity", .make = make_same,
     .attrs = {DTYPE("dtype"), ANY("shape")}},
    {PASSES("PreventGradient"), .attrs = {TEXT("message")}},
    {"ReadVariableOp", .to = "Identity, TensorMove", .make = make_read, .attrs = {DTYPE("dtype")},
     .about = "a copy of what other ops may write to"},
    {"ResourceGather", .to = "Gather",
     .attrs = {DTYPE("dtype"), INT("batch_dims", "0", NULL, "0"), BOOL("validate_indices", "1")}},
    {UPDATE("ResourceScatterUpdate", "ScatterUpdate")},
    {UPDATE("ScatterNdAdd", "ScatterNdAdd")},
    {UPDATE("ScatterNdUpdate", "ScatterNdUpdate")},
    {UPDATE("ScatterUpdate", "ScatterUpdate")},
    {PASSES("Snapshot")},
    {PASSES("StopGradient")},
    {VARIABLE("VarHandleOp")},
    {VARIABLE("Variable")},
    {VARIABLE("VariableV2")},
    {NULL},
};

/* ----------------------------------------------------------------------------- table ---- */

static const struct translation_row *const families[] = {
    tf_elementwise, tf_same, tf_products, tf_reductions, tf_shapes, tf_indexing, tf_states, NULL};

/* Attributes that repeat the data types of operands, or of results that have theirs. */
static const char *const implied[] = {
    "T",        "Tidx",    "Tshape",     "Tperm",      "Tdim",   "Tdims", "Taxis", "Tlen",
    "Tindices", "Tparams", "Tpaddings",  "Tmultiples", "Tindex", "TI",    "TL",    "Tk",
    "Tind",     "Index",   "index_type", "SrcT",       "U",      "Tin",   "Tout",  NULL};

const struct translation_table tf_table = {"tf", NULL, 1, families, implied};
