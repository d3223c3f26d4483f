/* Operators of TensorFlow along axes. */
#include "frontend/exchange/translate/tf_rows.h"

/* The mean of integers would be cut, by rules of its own. */
static void make_mean(struct translation *t)
{
    uint32_t x = tr_operand(t, 0);
    enum dtype dtype = tr_need_dtype(t, x);
    if (!tr_is_float(t, x))
        tr_refuse(t, "its operand is %s, not a float", dtype_info(dtype)->name);
    row_attrs_map(t);
    tr_give(t, 0, tr_make(t, "ReduceMean", x, tr_operand(t, 1)));
}

static void make_norm(struct translation *t)
{
    uint32_t x = tr_operand(t, 0);
    enum dtype dtype = tr_need_dtype(t, x);
    if (!tr_is_float(t, x))
        tr_refuse(t, "its operand is %s, not a float", dtype_info(dtype)->name);
    uint32_t squares = tr_make(t, "Square", tf_widened(t, x));
    row_attrs_map(t);
    uint32_t norm = tr_make(t, "Sqrt", tr_make(t, "ReduceSum", squares, tr_operand(t, 1)));
    tr_give(t, 0, tr_cast(t, norm, dtype));
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
    row_attrs_map(t);
    uint32_t first = tr_op(t, "TopKV2", (const uint32_t[]){tr_operand(t, 0), k}, 2, 2);
    tr_give(t, 0, first);
    tr_give(t, 1, first + 1);
}

/* Without axes TensorFlow reduces nothing. */
#define REDUCE(name, target)                                                                       \
    {                                                                                              \
        name, .to = target, .attrs = {                                                             \
            {"keep_dims", OF_BOOL, "0", "keep_dims"},                                              \
            {NULL, OF_BOOL, "1", "noop_with_empty_axes"}                                           \
        }                                                                                          \
    }
#define RUNNING(name)                                                                              \
    {                                                                                              \
        name, .to = name, .attrs = {                                                               \
            {"exclusive", OF_BOOL, "0", "exclusive"},                                              \
            {"reverse", OF_BOOL, "0", "reverse"}                                                   \
        }                                                                                          \
    }

const struct translation_row tf_reductions[] = {
    {"All", .to = "ReduceAll", .attrs = {{"keep_dims", OF_BOOL, "0", "keep_dims"}}},
    {"Any", .to = "ReduceAny", .attrs = {{"keep_dims", OF_BOOL, "0", "keep_dims"}}},
    {"ArgMax", .to = "ArgMaxV2", .attrs = {{"output_type", OF_DTYPE, "i64", "dtype"}}},
    {"ArgMin", .to = "ArgMin", .attrs = {{"output_type", OF_DTYPE, "i64", "dtype"}}},
    RUNNING("Cumprod"),
    RUNNING("Cumsum"),
    {"EuclideanNorm",
     .to = "Square, ReduceSum, Sqrt",
     make_norm,
     {{"keep_dims", OF_BOOL, "0", "keep_dims"}, {NULL, OF_BOOL, "1", "noop_with_empty_axes"}},
     "of floats"},
    {"L2Loss", .to = "Square, ReduceSumD, Mul", make_l2_loss, .about = "the rank must be known"},
    {"LogSoftmax", .to = "LogSoftmaxV2", .attrs = {{NULL, OF_INTS, "[-1]", "axes"}}},
    REDUCE("Max", "ReduceMax"),
    {"Mean",
     .to = "ReduceMean",
     make_mean,
     {{"keep_dims", OF_BOOL, "0", "keep_dims"}, {NULL, OF_BOOL, "1", "noop_with_empty_axes"}},
     "of floats"},
    REDUCE("Min", "ReduceMin"),
    REDUCE("Prod", "ReduceProd"),
    {"Softmax", .to = "SoftmaxV2", .attrs = {{NULL, OF_INTS, "[-1]", "axes"}}},
    REDUCE("Sum", "ReduceSum"),
    {"TopK",
     .to = "TopKV2",
     make_top_k,
     {{"k", OF_INT},
      {"sorted", OF_BOOL, "1", "sorted"},
      {NULL, OF_INT, "-1", "dim"},
      {NULL, OF_BOOL, "1", "largest"},
      {"index_type", OF_DTYPE, "i32", "indices_dtype"}}},
    {"TopKV2", .to = "TopKV2",
     .attrs = {{"sorted", OF_BOOL, "1", "sorted"},
               {NULL, OF_INT, "-1", "dim"},
               {NULL, OF_BOOL, "1", "largest"},
               {"index_type", OF_DTYPE, "i32", "indices_dtype"}}},
    {NULL},
};
