/* Operators of ONNX that find, sort, gather and scatter elements. */
#include "frontend/exchange/translate/onnx_rows.h"

/* ---------------------------------------------------------------------------- gather ---- */

static void make_gather(struct translation *t)
{
    uint32_t axis = tr_const_int(t, "axis", tr_int(t, "axis"));
    tr_set_flag(t, "negative_index_support", true);
    tr_give(t, 0, tr_make(t, "GatherV2", tr_operand(t, 0), tr_operand(t, 1), axis));
}

/* Tuples that begin with the number of their batch, so that x is gathered from as a whole: its
 * batch dimensions are one. */
static void gather_batches(struct translation *t, uint32_t x, uint32_t indices, uint32_t batch)
{
    struct tr_ints of_x, of_i;
    if (!tr_dims(t, x, &of_x) || !tr_dims(t, indices, &of_i)) {
        tr_refuse(t, "attribute 'batch_dims' is not 0, and a dimension is not known");
        return;
    }
    int64_t batches = 1, *flat = tr_array(t, of_x.count), *wide = tr_array(t, of_i.count);
    uint32_t n_wide = of_i.count - batch + 1, n_flat = of_x.count - batch + 1;
    int64_t *numbers = tr_array(t, n_wide), *every = tr_array(t, n_wide);
    for (uint32_t i = 0; i < batch; i++)
        if (__builtin_mul_overflow(batches, of_x.at[i], &batches))
            tr_refuse(t, "its batches are too many");
    if (tr_refused(t))
        return;
    flat[0] = wide[0] = every[0] = numbers[0] = batches;
    for (uint32_t i = 1; i < n_flat; i++)
        flat[i] = of_x.at[batch + i - 1];
    for (uint32_t i = 1; i < n_wide; i++) {
        wide[i] = every[i] = of_i.at[batch + i - 1];
        numbers[i] = 1;
    }
    every[n_wide - 1] = 1;
    uint32_t number = tr_const_ints(t, "batches", tr_range(t, 0, batches));
    number = tr_reshape(t, number, (struct tr_ints){numbers, n_wide});
    number = tr_make(t, "BroadcastTo", number,
                     tr_const_ints(t, "every", (struct tr_ints){every, n_wide}));
    uint32_t pair[] = {
        number, tr_reshape(t, tr_cast(t, indices, DTYPE_i64), (struct tr_ints){wide, n_wide})};
    tr_set_int(t, "concat_dim", -1);
    tr_set_int(t, "N", 2);
    uint32_t tuples = tr_listed(t, "ConcatD", pair, 2, NONE);
    x = tr_reshape(t, x, (struct tr_ints){flat, n_flat});
    tr_set_flag(t, "negative_index_support", true);
    uint32_t found = tr_make(t, "GatherNd", x, tuples);
    uint32_t rank = tr_need_rank(t, found) + batch - 1;
    int64_t *dims = tr_array(t, rank);
    for (uint32_t i = 0; i < rank; i++)
        dims[i] = i < batch ? of_x.at[i] : tr_need_dim(t, found, i - batch + 1);
    tr_give(t, 0, tr_reshape(t, found, (struct tr_ints){dims, rank}));
}

static void make_gather_nd(struct translation *t)
{
    uint32_t x = tr_operand(t, 0), indices = tr_operand(t, 1);
    int64_t batch = tr_int(t, "batch_dims");
    if (batch < 0 || batch >= tr_need_rank(t, indices) || batch >= tr_need_rank(t, x)) {
        tr_refuse(t, "attribute 'batch_dims' is %lld", (long long)batch);
        return;
    }
    if (batch > 0) {
        gather_batches(t, x, indices, (uint32_t)batch);
        return;
    }
    tr_set_flag(t, "negative_index_support", true);
    tr_give(t, 0, tr_make(t, "GatherNd", x, indices));
}

/* --------------------------------------------------------------------------- scatter ---- */

static void make_scatter_nd(struct translation *t)
{
    const char *type = tr_is(t, "reduction", "add")   ? "TensorScatterAdd"
                       : tr_is(t, "reduction", "max") ? "TensorScatterMax"
                       : tr_is(t, "reduction", "min") ? "TensorScatterMin"
                                                      : "TensorScatterUpdate";
    tr_give(t, 0, tr_make(t, type, tr_operand(t, 0), tr_operand(t, 1), tr_operand(t, 2)));
}

/* ------------------------------------------------------------------------ arg and top ---- */

/* The place of the extreme along an axis. */
static uint32_t arg_of(struct translation *t, const char *type, uint32_t x, int64_t axis)
{
    uint32_t along = tr_const_int(t, "axis", axis);
    tr_set_dtype(t, "dtype", DTYPE_i64);
    return tr_make(t, type, x, along);
}

/* The last of several is the first of x in reverse. */
static uint32_t last_arg(struct translation *t, const char *type, uint32_t x, int64_t axis)
{
    uint32_t reversed = tr_make(t, "ReverseV2", x, tr_const_ints(t, "axes", onnx_one(t, axis)));
    uint32_t arg = arg_of(t, type, reversed, axis);
    int64_t size = tr_need_dim(t, x, (uint32_t)axis);
    return tr_make(t, "Sub", tr_const_int(t, "last", size - 1), arg);
}

static void make_arg(struct translation *t, const char *type)
{
    uint32_t x = tr_operand(t, 0);
    int64_t axis = tr_axis(t, tr_int(t, "axis"), tr_need_rank(t, x));
    uint32_t arg =
        tr_int(t, "select_last_index") ? last_arg(t, type, x, axis) : arg_of(t, type, x, axis);
    tr_give(t, 0, tr_int(t, "keepdims") ? onnx_unsqueeze(t, arg, onnx_one(t, axis)) : arg);
}

static void make_arg_max(struct translation *t)
{
    make_arg(t, "ArgMaxV2");
}

static void make_arg_min(struct translation *t)
{
    make_arg(t, "ArgMin");
}

/* 1 in the place of the largest along the axis, the first of several. */
static uint32_t hardmax(struct translation *t, uint32_t x, int64_t axis, uint32_t rank)
{
    enum dtype dtype = tr_need_dtype(t, x);
    int64_t *dims = tr_array(t, rank), size = tr_need_dim(t, x, (uint32_t)axis);
    for (uint32_t i = 0; i < rank; i++)
        dims[i] = i == axis ? size : 1;
    uint32_t arg = onnx_unsqueeze(t, arg_of(t, "ArgMaxV2", x, axis), onnx_one(t, axis));
    uint32_t places = tr_reshape(t, tr_const_ints(t, "places", tr_range(t, 0, size)),
                                 (struct tr_ints){dims, rank});
    return tr_cast(t, tr_make(t, "Equal", places, arg), dtype);
}

static void make_hardmax(struct translation *t)
{
    uint32_t x = tr_operand(t, 0), rank = tr_need_rank(t, x);
    int64_t axis = tr_axis(t, tr_int(t, "axis"), rank);
    tr_give(t, 0, hardmax(t, x, axis, rank));
}

/* The dimensions from the axis on are one. */
static void make_old_hardmax(struct translation *t)
{
    uint32_t x = tr_operand(t, 0), rank = tr_need_rank(t, x);
    int64_t axis = onnx_split_axis(t, tr_int(t, "axis"), rank);
    struct tr_ints dims;
    if (!tr_dims(t, x, &dims))
        tr_refuse(t, "a dimension is not known");
    uint32_t found = hardmax(t, onnx_flatten(t, x, axis, rank), 1, 2);
    tr_give(t, 0, tr_reshape(t, found, dims));
}

static void top_k(struct translation *t, uint32_t k, bool largest, bool sorted)
{
    tr_set_flag(t, "sorted", sorted);
    tr_set_int(t, "dim", tr_int(t, "axis"));
    tr_set_flag(t, "largest", largest);
    tr_set_dtype(t, "indices_dtype", DTYPE_i64);
    uint32_t operands[] = {tr_operand(t, 0), k};
    uint32_t first = tr_op(t, "TopKV2", operands, 2, 2);
    if (tr_refused(t))
        return;
    tr_give(t, 0, first);
    tr_give(t, 1, first + 1);
}

static void make_top_k(struct translation *t)
{
    bool old = t->row->until == 10;
    top_k(t, tr_operand(t, 1), old || tr_int(t, "largest"), old || tr_int(t, "sorted"));
}

static void make_old_top_k(struct translation *t)
{
    top_k(t, tr_const_int(t, "k", tr_int(t, "k")), true, true);
}

static void make_cum_sum(struct translation *t)
{
    tr_set_flag(t, "exclusive", tr_int(t, "exclusive"));
    tr_set_flag(t, "reverse", tr_int(t, "reverse"));
    tr_give(t, 0, tr_make(t, "Cumsum", tr_operand(t, 0), tr_operand(t, 1)));
}

/* --------------------------------------------------------------------------- ranges ---- */

/* One of the two elements of `values`. */
static uint32_t element(struct translation *t, uint32_t values, int64_t place)
{
    uint32_t part = tr_make(t, "Slice", values, tr_const_ints(t, "place", onnx_one(t, place)),
                            tr_const_ints(t, "count", onnx_one(t, 1)));
    return tr_reshape(t, part, (struct tr_ints){NULL, 0});
}

static void make_one_hot(struct translation *t)
{
    uint32_t indices = tr_cast(t, tr_operand(t, 0), DTYPE_i64);
    uint32_t depth = tr_cast(t, tr_operand(t, 1), DTYPE_i64), values = tr_operand(t, 2);
    if (tr_rank(t, depth) != 0)
        depth = tr_reshape(t, depth, (struct tr_ints){NULL, 0});
    uint32_t below = tr_make(t, "Less", indices, tr_const_int(t, "zero", 0));
    indices = tr_make(t, "SelectV2", below, tr_make(t, "Add", indices, depth), indices);
    uint32_t off = element(t, values, 0), on = element(t, values, 1);
    tr_set_int(t, "axis", tr_int(t, "axis"));
    tr_give(t, 0, tr_make(t, "OneHot", indices, depth, on, off));
}

/* Where a matrix, the last two dimensions of a shape, has column - row compared with k. */
static uint32_t diagonal_mask(struct translation *t, int64_t rows, int64_t columns,
                              const char *compare, uint32_t k)
{
    uint32_t row = tr_const_ints(t, "rows", tr_range(t, 0, rows));
    uint32_t column = tr_const_ints(t, "columns", tr_range(t, 0, columns));
    uint32_t apart = tr_make(t, "Sub", column, onnx_unsqueeze(t, row, onnx_one(t, 1)));
    return tr_make(t, compare, apart, k);
}

static void make_trilu(struct translation *t)
{
    uint32_t x = tr_operand(t, 0), k = tr_optional(t, 1), rank = tr_need_rank(t, x);
    enum dtype dtype = tr_need_dtype(t, x);
    if (rank < 2) {
        tr_refuse(t, "its operand is no matrix");
        return;
    }
    int64_t rows = tr_need_dim(t, x, rank - 2), columns = tr_need_dim(t, x, rank - 1);
    k = k == NONE ? tr_const_int(t, "k", 0) : tr_cast(t, k, DTYPE_i64);
    uint32_t mask =
        diagonal_mask(t, rows, columns, tr_int(t, "upper") ? "GreaterEqual" : "LessEqual", k);
    tr_give(t, 0, tr_make(t, "SelectV2", mask, x, tr_const(t, "zero", dtype, 0)));
}

static void make_eye_like(struct translation *t)
{
    uint32_t x = tr_operand(t, 0);
    enum dtype dtype;
    if (!tr_has(t, "dtype"))
        dtype = tr_need_dtype(t, x);
    else if (!onnx_dtype(t, tr_int(t, "dtype"), &dtype))
        return;
    if (tr_need_rank(t, x) != 2)
        tr_refuse(t, "its operand is no matrix");
    uint32_t mask = diagonal_mask(t, tr_need_dim(t, x, 0), tr_need_dim(t, x, 1), "Equal",
                                  tr_const_int(t, "k", tr_int(t, "k")));
    tr_give(t, 0, tr_cast(t, mask, dtype));
}

/* How many numbers a range of known integers has. */
static bool range_size(struct translation *t, int64_t *size)
{
    struct tr_ints of[3];
    for (uint32_t i = 0; i < 3; i++)
        if (!tr_contents(t, tr_operand(t, i), &of[i]) || of[i].count != 1)
            return false;
    int64_t start = *of[0].at, limit = *of[1].at, delta = *of[2].at;
    if (delta == 0 || start < -INT32_MAX || start > INT32_MAX || limit < -INT32_MAX ||
        limit > INT32_MAX || delta < -INT32_MAX || delta > INT32_MAX)
        return false;
    int64_t span = delta > 0 ? limit - start : start - limit, step = delta > 0 ? delta : -delta;
    *size = span > 0 ? (span + step - 1) / step : 0;
    return true;
}

static void make_range(struct translation *t)
{
    int64_t size;
    if (range_size(t, &size))
        tr_set_type(t, tr_need_dtype(t, tr_operand(t, 0)), onnx_one(t, size));
    tr_give(t, 0, tr_make(t, "Range", tr_operand(t, 0), tr_operand(t, 1), tr_operand(t, 2)));
}

/* ------------------------------------------------------------------------------ rows ---- */

const struct translation_row onnx_index[] = {
    {"ArgMax", 1, .to = "ArgMaxV2, Unsqueeze", .make = make_arg_max,
     .attrs = {{"axis", OF_INT, "0"},
               {"keepdims", OF_BOOL, "1"},
               {"select_last_index", OF_BOOL, "0"}},
     .about = "with ReverseV2 and Sub for the last of several; the rank must be known"},
    {"ArgMin", 1, .to = "ArgMin, Unsqueeze", .make = make_arg_min,
     .attrs = {{"axis", OF_INT, "0"},
               {"keepdims", OF_BOOL, "1"},
               {"select_last_index", OF_BOOL, "0"}},
     .about = "as ArgMax"},
    {"CumSum", 11, .to = "Cumsum", .make = make_cum_sum,
     .attrs = {{"exclusive", OF_BOOL, "0", "exclusive"}, {"reverse", OF_BOOL, "0", "reverse"}}},
    {"EyeLike", 9, .to = "Sub, Equal, Cast", .make = make_eye_like,
     .attrs = {{"dtype", OF_INT}, {"k", OF_INT, "0"}}, .about = "of static dimensions"},
    {"Gather", 1, .to = "GatherV2", .make = make_gather, .attrs = {{"axis", OF_INT, "0"}},
     .about = "with `negative_index_support`"},
    {"GatherElements", 11, .to = "GatherElements", .attrs = {{"axis", OF_INT, "0", "dim"}}},
    {"GatherND", 11, .to = "GatherNd", .make = make_gather_nd,
     .attrs = {{"batch_dims", OF_INT, "0"}},
     .about =
         "with `negative_index_support`; where `batch_dims` is not 0, of static dimensions, and "
         "with Reshape, BroadcastTo and ConcatD"},
    {"Hardmax", 1, .until = 12, .to = "ArgMaxV2, Equal, Cast", .make = make_old_hardmax,
     .attrs = {{"axis", OF_INT, "1"}},
     .about = "the dimensions from `axis` on are one; of static dimensions"},
    {"Hardmax", 13, .to = "ArgMaxV2, Equal, Cast", .make = make_hardmax,
     .attrs = {{"axis", OF_INT, "-1"}}, .about = "the dimension must be known"},
    {"OneHot", 9, .to = "OneHot", .make = make_one_hot, .attrs = {{"axis", OF_INT, "-1", "axis"}},
     .about = "with Less, Add and SelectV2 for indices below 0"},
    {"Range", 11, .to = "Range", .make = make_range},
    {"Scatter", 9, .to = "ScatterElements",
     .attrs = {{"axis", OF_INT, "0", "axis"}, {NULL, OF_TEXT, "none", "reduction"}}},
    {"ScatterElements", 11, .to = "ScatterElements",
     .attrs = {{"axis", OF_INT, "0", "axis"},
               {"reduction", OF_TEXT, "none", "reduction", "none|add|mul"}}},
    {"ScatterND", 11, .to = "TensorScatterUpdate", .make = make_scatter_nd,
     .attrs = {{"reduction", OF_TEXT, "none", NULL, "none|add|max|min"}},
     .about = "TensorScatterAdd, TensorScatterMax and TensorScatterMin by `reduction`"},
    {"TopK", 1, .until = 9, .to = "TopKV2", .make = make_old_top_k,
     .attrs = {{"axis", OF_INT, "-1", "dim"}, {"k", OF_INT}}},
    {"TopK", 10, .until = 10, .to = "TopKV2", .make = make_top_k,
     .attrs = {{"axis", OF_INT, "-1", "dim"}}},
    {"TopK", 11, .to = "TopKV2", .make = make_top_k,
     .attrs = {{"axis", OF_INT, "-1", "dim"},
               {"largest", OF_BOOL, "1", "largest"},
               {"sorted", OF_BOOL, "1", "sorted"}}},
    {"Trilu", 14, .to = "Sub, GreaterEqual, LessEqual, SelectV2", .make = make_trilu,
     .attrs = {{"upper", OF_BOOL, "1"}}, .about = "the last two dimensions must be known"},
    {NULL},
};
