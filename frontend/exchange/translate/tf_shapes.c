/* Operators of TensorFlow on shapes, and those that put tensors together or take them apart. */
#include "frontend/exchange/translate/tf_rows.h"

/* -------------------------------------------------------------------------- operands ---- */

uint32_t tf_widened(struct translation *t, uint32_t value)
{
    unsigned dtype = tr_dtype(t, value);
    return dtype == DTYPE_f16 || dtype == DTYPE_bf16 ? tr_cast(t, value, DTYPE_f32) : value;
}

/* The only number of a constant operand; else the node is refused. */
static int64_t const_number(struct translation *t, uint32_t operand, const char *what)
{
    struct tr_ints ints = {NULL, 0};
    if (!tr_contents(t, operand, &ints) || ints.count != 1) {
        tr_refuse(t, "its %s is no constant", what);
        return 0;
    }
    return ints.at[0];
}

/* ---------------------------------------------------------------------------- shapes ---- */

/* GE takes 0 for the dimension at its place, TensorFlow for 0. */
static void make_reshape(struct translation *t)
{
    uint32_t x = tr_operand(t, 0), shape = tr_operand(t, 1);
    struct tr_ints dims;
    for (uint32_t i = 0; tr_contents(t, shape, &dims) && i < dims.count; i++)
        if (dims.at[i] == 0 && tr_dim(t, x, i) != 0)
            tr_refuse(t, "dimension %u of its shape is 0, which GE takes for that of the operand",
                      i);
    tr_give(t, 0, tr_make(t, "Reshape", x, shape));
}

static void make_expand(struct translation *t)
{
    tr_give(t, 0, tr_make(t, "ExpandDims", tr_operand(t, 0), tr_operand(t, 1)));
}

/* Complex numbers would be conjugated. */
static void make_conjugate_transpose(struct translation *t)
{
    uint32_t x = tr_operand(t, 0);
    enum dtype dtype = tr_need_dtype(t, x);
    if (dtype == DTYPE_c64 || dtype == DTYPE_c128)
        tr_refuse(t, "its operand is complex");
    tr_give(t, 0, tr_make(t, "Transpose", x, tr_operand(t, 1)));
}

/* ------------------------------------------------------------------- dimensions as data ---- */

/* Where all dimensions are known, what the op gives is a constant. */
static void make_shape(struct translation *t)
{
    struct tr_ints dims;
    enum dtype dtype = tr_dtype_of(t, "out_type");
    for (uint32_t i = 0; i < t->n_operands; i++) {
        uint32_t x = tr_operand(t, i);
        if (tr_dims(t, x, &dims)) {
            tr_give(t, i, tr_const_list(t, "shape", dtype, dims));
            continue;
        }
        tr_set_dtype(t, "dtype", dtype);
        tr_give(t, i, tr_make(t, "Shape", x));
    }
}

static void make_size(struct translation *t)
{
    struct tr_ints dims;
    uint32_t x = tr_operand(t, 0);
    enum dtype dtype = tr_dtype_of(t, "out_type");
    int64_t size = 1;
    if (!tr_dims(t, x, &dims)) {
        tr_set_dtype(t, "dtype", dtype);
        tr_give(t, 0, tr_make(t, "Size", x));
        return;
    }
    for (uint32_t i = 0; i < dims.count; i++)
        if (__builtin_mul_overflow(size, dims.at[i], &size))
            tr_refuse(t, "its operand is too large");
    tr_give(t, 0, tr_const(t, "size", dtype, (double)size));
}

static void make_rank(struct translation *t)
{
    uint32_t x = tr_operand(t, 0), rank = tr_rank(t, x);
    tr_give(t, 0,
            rank == RANK_UNKNOWN ? tr_make(t, "Rank", x) : tr_const(t, "rank", DTYPE_i32, rank));
}

/* ------------------------------------------------------------------------- together ---- */

/* The axis is the first operand, or the last one. */
static void concat(struct translation *t, bool axis_first)
{
    uint32_t n = t->n_operands;
    if (n < 2)
        tr_refuse(t, "it has %u operands", n);
    if (tr_refused(t))
        return;
    tr_set_int(t, "N", n - 1);
    tr_give(t, 0,
            tr_listed(t, "ConcatV2", t->operands + axis_first, n - 1,
                      tr_operand(t, axis_first ? 0 : n - 1)));
}

static void make_concat(struct translation *t)
{
    concat(t, true);
}

static void make_concat_v2(struct translation *t)
{
    concat(t, false);
}

/* All operands as one list. */
static void make_listed(struct translation *t)
{
    row_attrs_map(t);
    tr_set_int(t, "N", t->n_operands);
    tr_give(t, 0, tr_listed(t, t->row->to, t->operands, t->n_operands, NONE));
}

/* --------------------------------------------------------------------------- apart ---- */

static void make_split(struct translation *t)
{
    uint32_t x = tr_operand(t, 1);
    tr_set_int(t, "split_dim", const_number(t, tr_operand(t, 0), "axis"));
    tr_set_int(t, "num_split", tr_int(t, "num_split"));
    uint32_t first = tr_op(t, "SplitD", &x, 1, t->n_results);
    for (uint32_t i = 0; i < t->n_results; i++)
        tr_give(t, i, first + i);
}

const struct translation_row tf_shapes[] = {
    {"AccumulateNV2", .to = "AddN", make_listed, {{"N", OF_INT}, {"shape", OF_ANY}}},
    {"AddN", .to = "AddN", make_listed, {{"N", OF_INT}}},
    {"BroadcastTo", .to = "BroadcastTo"},
    {"Concat", .to = "ConcatV2", make_concat, {{"N", OF_INT}}},
    {"ConcatV2", .to = "ConcatV2", make_concat_v2, {{"N", OF_INT}}},
    {"ConjugateTranspose", .to = "Transpose", make_conjugate_transpose,
     .about = "not of complex numbers"},
    {"ExpandDims", .to = "ExpandDims", make_expand},
    {"Fill", .to = "Fill"},
    {"Pack", .to = "Pack", make_listed, {{"N", OF_INT}, {"axis", OF_INT, "0", "axis"}}},
    {"Rank", .to = "Const, Rank", .make = make_rank, .about = "a constant where the rank is known"},
    {"Reshape", .to = "Reshape", make_reshape,
     .about = "a 0 in the shape only where the operand has it, too"},
    {"Shape",
     .to = "Const, Shape",
     make_shape,
     {{"out_type", OF_DTYPE, "i32"}},
     "a constant where all dimensions are known"},
    {"ShapeN",
     .to = "Const, Shape",
     make_shape,
     {{"N", OF_INT}, {"out_type", OF_DTYPE, "i32"}},
     "a constant where all dimensions are known"},
    {"Size", .to = "Const, Size", .make = make_size, .attrs = {{"out_type", OF_DTYPE, "i32"}},
     .about = "a constant where all dimensions are known"},
    {"Split",
     .to = "SplitD",
     make_split,
     {{"num_split", OF_INT, NULL, "num_split"}},
     "the axis is a constant"},
    {"SplitV", .to = "SplitV", .attrs = {{"num_split", OF_INT, NULL, "num_split"}}},
    {"Squeeze", .to = "Squeeze", .attrs = {{"squeeze_dims", OF_INTS, "[]", "axis"}}},
    {"Tile", .to = "Tile"},
    {"Transpose", .to = "Transpose"},
    {"Unpack", .to = "Unpack",
     .attrs = {{"num", OF_INT, NULL, "num"}, {"axis", OF_INT, "0", "axis"}}},
    {NULL},
};
