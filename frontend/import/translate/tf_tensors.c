/* Operators of TensorFlow on shapes, those that put tensors together, take them apart, take parts
 * or surround them, and those on matrices and channels. */
#include "frontend/import/translate/rows.h"

#include <string.h>

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
static void make_concat(struct translation *t)
{
    bool axis_first = strcmp(t->row->op, "Concat") == 0;
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

/* All operands as one list. */
static void make_listed(struct translation *t)
{
    tr_map_attrs(t);
    tr_set_int(t, "N", t->n_operands);
    tr_give(t, 0, tr_listed(t, t->row->to, t->operands, t->n_operands, NONE));
}

/* --------------------------------------------------------------------------- apart ---- */

static void make_split(struct translation *t)
{
    uint32_t x = tr_operand(t, 1);
    struct tr_ints axis = {NULL, 0};
    if (!tr_contents(t, tr_operand(t, 0), &axis) || axis.count != 1) {
        tr_refuse(t, "its axis is no constant");
        return;
    }
    tr_set_int(t, "split_dim", *axis.at);
    tr_set_int(t, "num_split", tr_int(t, "num_split"));
    tr_give_all(t, tr_op(t, "SplitD", &x, 1, t->n_results));
}

const struct translation_row tf_shapes[] = {
    {"AccumulateNV2", .to = "AddN", make_listed, {INT("N"), ANY("shape")}},
    {"AddN", .to = "AddN", make_listed, {INT("N")}},
    {"BroadcastTo", .to = "BroadcastTo"},
    {"Concat", .to = "ConcatV2", make_concat, {INT("N")}},
    {"ConcatV2", .to = "ConcatV2", make_concat, {INT("N")}},
    {"ConjugateTranspose", .to = "Transpose", make_conjugate_transpose,
     .about = "not of complex numbers"},
    {"ExpandDims", .to = "ExpandDims"},
    {"Fill", .to = "Fill"},
    {"Pack", .to = "Pack", make_listed, {INT("N"), INT("axis", "0", "axis")}},
    {"Rank", .to = "Const, Rank", .make = make_rank, .about = "a constant where the rank is known"},
    {"Reshape", .to = "Reshape", make_reshape,
     .about = "a 0 in the shape only where the operand has it, too"},
    {"Shape",
     .to = "Const, Shape",
     make_shape,
     {DTYPE("out_type", "i32")},
     "a constant where all dimensions are known"},
    {"ShapeN",
     .to = "Const, Shape",
     make_shape,
     {INT("N"), DTYPE("out_type", "i32")},
     "a constant where all dimensions are known"},
    {"Size", .to = "Const, Size", .make = make_size, .attrs = {DTYPE("out_type", "i32")},
     .about = "a constant where all dimensions are known"},
    {"Split",
     .to = "SplitD",
     make_split,
     {INT("num_split", NULL, "num_split")},
     "the axis is a constant"},
    {"SplitV", .to = "SplitV", .attrs = {INT("num_split", NULL, "num_split")}},
    {"Squeeze", .to = "Squeeze", .attrs = {INTS("squeeze_dims", "[]", "axis")}},
    {"Tile", .to = "Tile"},
    {"Transpose", .to = "Transpose"},
    {"Unpack", .to = "Unpack", .attrs = {INT("num", NULL, "num"), INT("axis", "0", "axis")}},
    {NULL},
};

/* --------------------------------------------------------------------------- indexing ---- */

enum { MOST_INVERTED = 4096 };

/* y[x[i]] = i */
static void make_invert(struct translation *t)
{
    static const int64_t column[] = {-1, 1};
    uint32_t x = tr_operand(t, 0);
    int64_t count = tr_need_rank(t, x) == 1 ? tr_dim(t, x, 0) : -1;
    if (count < 0 || count > MOST_INVERTED) {
        tr_refuse(t, "the number of its elements is not known, or is too large");
        return;
    }
    int64_t *places = arena_alloc(&t->translator->arena, ((size_t)count + 1) * sizeof *places);
    for (int64_t i = 0; i < count; i++)
        places[i] = i;
    uint32_t rows = tr_reshape(t, x, (struct tr_ints){column, 2});
    uint32_t from =
        tr_const_list(t, "places", tr_need_dtype(t, x), (struct tr_ints){places, (uint32_t)count});
    tr_give(t, 0,
            tr_make(t, "ScatterNd", rows, from,
                    tr_const_ints(t, "shape", (struct tr_ints){&count, 1})));
}

/* How many numbers it gives is known where they are: then it becomes a constant. */
static void make_range(struct translation *t)
{
    struct tr_ints start, limit, delta;
    uint32_t from = tr_operand(t, 0), to = tr_operand(t, 1), by = tr_operand(t, 2);
    int64_t span, count;
    if (tr_contents(t, from, &start) && tr_contents(t, to, &limit) && tr_contents(t, by, &delta) &&
        start.count == 1 && limit.count == 1 && delta.count == 1 && *delta.at != 0 &&
        *delta.at != INT64_MIN && !__builtin_sub_overflow(*limit.at, *start.at, &span)) {
        bool any = *delta.at > 0 ? span > 0 : span < 0;
        count = any ? span / *delta.at + (span % *delta.at != 0) : 0;
        tr_set_type(t, (enum dtype)tr_dtype(t, from), (struct tr_ints){&count, 1});
    }
    tr_give(t, 0, tr_make(t, "Range", from, to, by));
}

#define MASK(name) INT(name, "0", name)
#define SCATTERS(name)                                                                             \
    name, .to = name, .attrs = {TEXT("bad_indices_policy", "", NULL, "|DEFAULT|ERROR")}

const struct translation_row tf_indexing[] = {
    {"DepthToSpace", .to = "DepthToSpace",
     .attrs = {INT("block_size", NULL, "block_size"),
               TEXT("data_format", "NHWC", "data_format", "NHWC|NCHW"), TEXT(NULL, "DCR", "mode")}},
    {"Gather", .to = "Gather", .attrs = {BOOL("validate_indices", "1")}},
    {SCATTERS("GatherNd")},
    {"GatherV2", .to = "GatherV2", .attrs = {INT("batch_dims", "0", "batch_dims")}},
    {"InvertPermutation", .to = "ScatterNd", .make = make_invert,
     .about = "the size must be known"},
    {"MatrixBandPart", .to = "MatrixBandPart"},
    {"MirrorPad", .to = "MirrorPad", .attrs = {TEXT("mode", NULL, "mode")}},
    {"OneHot", .to = "OneHot", .attrs = {INT("axis", "-1", "axis")}},
    {"Pad", .to = "Pad"},
    {"PadV2", .to = "PadV2"},
    {"Range", .to = "Range", .make = make_range},
    {"ReverseV2", .to = "ReverseV2"},
    {SCATTERS("ScatterNd")},
    {"Slice", .to = "Slice"},
    {"SpaceToDepth", .to = "SpaceToDepth",
     .attrs = {INT("block_size", NULL, "block_size"),
               TEXT("data_format", "NHWC", "data_format", "NHWC|NCHW")}},
    {"StridedSlice", .to = "StridedSlice",
     .attrs = {MASK("begin_mask"), MASK("end_mask"), MASK("ellipsis_mask"), MASK("new_axis_mask"),
               MASK("shrink_axis_mask")}},
    {SCATTERS("TensorScatterAdd")},
    {SCATTERS("TensorScatterMax")},
    {SCATTERS("TensorScatterMin")},
    {SCATTERS("TensorScatterSub")},
    {SCATTERS("TensorScatterUpdate")},
    {NULL},
};

/* -------------------------------------------------------------------------- Einsum ---- */

/* Labels of an equation of two operands: what each is for. */
enum label_use {
    LABEL_BATCH, /* in both operands and the result */
    LABEL_LEFT,  /* in the first and the result */
    LABEL_RIGHT, /* in the second and the result */
    LABEL_SUM,   /* in both operands only */
    LABEL_USES
};

struct labels {
    char at[MAX_RANK + 1];
    uint32_t count;
};

struct einsum {
    struct translation *t;
    struct labels in[2], out;
};

static bool has_label(const struct labels *labels, char label)
{
    return memchr(labels->at, label, labels->count) != NULL;
}

/* Reads labels up to `end`. */
static void read_labels(struct einsum *e, struct labels *labels, const char *text, const char *end)
{
    labels->count = 0;
    for (; text < end; text++) {
        if (*text == ' ')
            continue;
        bool letter = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z');
        if (!letter || has_label(labels, *text) || labels->count == MAX_RANK) {
            tr_refuse(e->t, "its equation is not one of two operands whose labels are different "
                            "letters");
            return;
        }
        labels->at[labels->count++] = *text;
    }
}

static void read_equation(struct einsum *e)
{
    struct attr_value said;
    const struct intern_name *text =
        tr_value(e->t, "equation", &said) ? &e->t->module->names.names[said.id] : NULL;
    const char *begin = text ? text->text : "", *end = begin + (text ? text->size : 0);
    const char *comma = memchr(begin, ',', (size_t)(end - begin));
    const char *arrow = comma ? memchr(comma, '-', (size_t)(end - comma)) : NULL;
    if (!arrow || end - arrow < 2 || arrow[1] != '>') {
        tr_refuse(e->t, "its equation is not one of two operands with '->'");
        return;
    }
    read_labels(e, &e->in[0], begin, comma);
    read_labels(e, &e->in[1], comma + 1, arrow);
    read_labels(e, &e->out, arrow + 2, end);
}

static enum label_use use_of(const struct einsum *e, char label)
{
    bool left = has_label(&e->in[0], label), right = has_label(&e->in[1], label);
    if (!has_label(&e->out, label))
        return left && right ? LABEL_SUM : LABEL_USES;
    if (left && right)
        return LABEL_BATCH;
    return left ? LABEL_LEFT : right ? LABEL_RIGHT : LABEL_USES;
}

/* Refuses equations that are no batched product of matrices. */
static void check_equation(struct einsum *e)
{
    const struct labels *all[] = {&e->in[0], &e->in[1], &e->out};
    for (unsigned i = 0; i < 3; i++)
        for (uint32_t k = 0; k < all[i]->count; k++)
            if (use_of(e, all[i]->at[k]) == LABEL_USES)
                tr_refuse(e->t, "its label '%c' is summed over one operand, or only in the result",
                          all[i]->at[k]);
}

/* Appends the labels of one use, in the order of `from`. */
static void take(const struct einsum *e, struct labels *to, const struct labels *from,
                 enum label_use use)
{
    for (uint32_t i = 0; i < from->count; i++)
        if (use_of(e, from->at[i]) == use)
            to->at[to->count++] = from->at[i];
}

static uint32_t transpose(struct translation *t, uint32_t value, const struct labels *from,
                          const struct labels *to)
{
    int64_t perm[MAX_RANK];
    bool same = true;
    for (uint32_t i = 0; i < to->count; i++) {
        perm[i] = (const char *)memchr(from->at, to->at[i], from->count) - from->at;
        same &= perm[i] == (int64_t)i;
    }
    if (same)
        return value;
    return tr_make(t, "Transpose", value,
                   tr_const_ints(t, "perm", (struct tr_ints){perm, to->count}));
}

/* The dimension of a label. */
static int64_t dim_of(const struct einsum *e, char label)
{
    for (unsigned i = 0; i < 2; i++) {
        const char *at = memchr(e->in[i].at, label, e->in[i].count);
        int64_t dim = at ? tr_dim(e->t, e->t->operands[i], (uint32_t)(at - e->in[i].at)) : -1;
        if (dim >= 0)
            return dim;
    }
    return -1;
}

/* Appends the dimensions of the labels of one use, or their product. */
static void add_dims(struct einsum *e, int64_t *dims, uint32_t *count, const struct labels *labels,
                     enum label_use use, bool product)
{
    int64_t all = 1;
    for (uint32_t i = 0; i < labels->count; i++) {
        if (use_of(e, labels->at[i]) != use)
            continue;
        int64_t dim = dim_of(e, labels->at[i]);
        if (dim < 0 && all >= 0)
            all = -1;
        else if (dim < 0 || (all < 0 && product) ||
                 (product && __builtin_mul_overflow(all, dim, &all)))
            tr_refuse(e->t, "too few of its dimensions are known");
        if (!product)
            dims[(*count)++] = dim;
    }
    if (product)
        dims[(*count)++] = all;
}

static uint32_t reshape(struct einsum *e, uint32_t value, const int64_t *dims, uint32_t count)
{
    uint32_t open = 0;
    for (uint32_t i = 0; i < count; i++)
        open += dims[i] < 0;
    if (open > 1)
        tr_refuse(e->t, "too few of its dimensions are known");
    return tr_reshape(e->t, value, (struct tr_ints){dims, count});
}

/* An operand as matrices: batch labels, then `rows`, then `columns`, each as one dimension. */
static uint32_t as_matrices(struct einsum *e, unsigned operand, enum label_use rows,
                            enum label_use columns)
{
    const struct labels *from = &e->in[operand];
    struct labels order = {.count = 0};
    int64_t dims[MAX_RANK + 2];
    uint32_t count = 0;
    take(e, &order, &e->in[0], LABEL_BATCH);
    uint32_t batch = order.count;
    take(e, &order, rows == LABEL_SUM ? &e->in[0] : from, rows);
    uint32_t n_rows = order.count - batch;
    take(e, &order, columns == LABEL_SUM ? &e->in[0] : from, columns);
    uint32_t n_columns = order.count - batch - n_rows;
    uint32_t value = transpose(e->t, e->t->operands[operand], from, &order);
    if (n_rows == 1 && n_columns == 1)
        return value;
    add_dims(e, dims, &count, &e->in[0], LABEL_BATCH, false);
    add_dims(e, dims, &count, rows == LABEL_SUM ? &e->in[0] : from, rows, true);
    add_dims(e, dims, &count, columns == LABEL_SUM ? &e->in[0] : from, columns, true);
    return reshape(e, value, dims, count);
}

static void make_einsum(struct translation *t)
{
    struct einsum e = {.t = t};
    struct labels made = {.count = 0};
    int64_t dims[MAX_RANK];
    uint32_t count = 0;
    if (t->n_operands != 2)
        tr_refuse(t, "it has %u operands, not 2", t->n_operands);
    read_equation(&e);
    if (tr_refused(t))
        return;
    check_equation(&e);
    for (unsigned i = 0; i < 2; i++)
        if (tr_need_rank(t, tr_operand(t, i)) != e.in[i].count)
            tr_refuse(t, "its equation has other ranks than its operands");
    if (!tr_is_float(t, t->operands[0]))
        tr_refuse(t, "its operands are no floats");
    if (tr_refused(t))
        return;
    uint32_t y = tr_make(t, "BatchMatMul", as_matrices(&e, 0, LABEL_LEFT, LABEL_SUM),
                         as_matrices(&e, 1, LABEL_SUM, LABEL_RIGHT));
    take(&e, &made, &e.in[0], LABEL_BATCH);
    uint32_t batch = made.count;
    take(&e, &made, &e.in[0], LABEL_LEFT);
    uint32_t left = made.count - batch;
    take(&e, &made, &e.in[1], LABEL_RIGHT);
    if (left != 1 || made.count - batch - left != 1) {
        add_dims(&e, dims, &count, &e.in[0], LABEL_BATCH, false);
        add_dims(&e, dims, &count, &e.in[0], LABEL_LEFT, false);
        add_dims(&e, dims, &count, &e.in[1], LABEL_RIGHT, false);
        y = reshape(&e, y, dims, count);
    }
    tr_give(t, 0, transpose(t, y, &made, &e.out));
}

/* -------------------------------------------------------------------------- channels ---- */

/* Whether the format has the channels as the second of `rank` dimensions, not as the last. */
static bool channels_first(struct translation *t, uint32_t rank)
{
    if (!tr_is(t, "data_format", "NCHW"))
        return false;
    if (rank != 4)
        tr_refuse(t, "its operand of format NCHW has %u dimensions, not 4", rank);
    return true;
}

/* The shape of a vector of channels over planes. */
static uint32_t plane_shape(struct translation *t)
{
    return tr_const_ints(t, "shape", (struct tr_ints){(const int64_t[]){-1, 1, 1}, 3});
}

static void make_bias_add(struct translation *t)
{
    uint32_t x = tr_operand(t, 0), bias = tr_operand(t, 1);
    if (tr_is(t, "data_format", "NCHW") && channels_first(t, tr_need_rank(t, x)))
        bias = tr_make(t, "Reshape", bias, plane_shape(t));
    tr_give(t, 0, tr_make(t, "Add", x, bias));
}

/* y = (x - mean) / sqrt(variance + epsilon) * scale + offset, in the statistics' data type. */
static void make_batch_norm(struct translation *t)
{
    uint32_t x = tr_operand(t, 0), vectors[4];
    if (tr_int(t, "is_training"))
        tr_refuse(t, "it is of training: it uses statistics of the batch");
    for (uint32_t i = 3; i < t->n_results; i++)
        if (tr_wants(t, i))
            tr_refuse(t, "its output %u is for training", i);
    enum dtype from = tr_need_dtype(t, x), in = tr_need_dtype(t, tr_operand(t, 1));
    bool first = tr_is(t, "data_format", "NCHW") && channels_first(t, tr_need_rank(t, x));
    uint32_t shape = first ? plane_shape(t) : NONE;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t vector = tr_operand(t, i + 1);
        vectors[i] = first ? tr_make(t, "Reshape", vector, shape) : vector;
    }
    uint32_t epsilon = tr_const(t, "epsilon", in, tr_float(t, "epsilon"));
    uint32_t factor =
        tr_make(t, "Mul", tr_make(t, "Rsqrt", tr_make(t, "Add", vectors[3], epsilon)), vectors[0]);
    uint32_t centred = tr_make(t, "Sub", tr_cast(t, x, in), vectors[2]);
    uint32_t y = tr_make(t, "Add", tr_make(t, "Mul", centred, factor), vectors[1]);
    tr_give(t, 0, tr_cast(t, y, from));
    for (uint32_t i = 1; i < 3; i++)
        if (tr_wants(t, i))
            tr_give(t, i, tr_operand(t, i + 2));
}

#define BATCH_NORM(name)                                                                           \
    name, .to = "Sub, Mul, Add, Rsqrt", .make = make_batch_norm,                                   \
          .attrs = {FLOAT("epsilon", "0.0001"), FLOAT("exponential_avg_factor", "1"),              \
                    TEXT("data_format", "NHWC", NULL, "NHWC|NCHW"), BOOL("is_training", "1")},     \
          .about = "not of training; results are y, the mean and the variance"
/* `grad_*` only concern gradients. */
#define BATCH_MATMUL(name, ...)                                                                    \
    name, .to = "BatchMatMul",                                                                     \
          .attrs = {BOOL("adj_x", "0", "adj_x1"), BOOL("adj_y", "0", "adj_x2"),                    \
                    BOOL("grad_x", "0"), BOOL("grad_y", "0"), __VA_ARGS__}

const struct translation_row tf_products[] = {
    {BATCH_MATMUL("BatchMatMul", INT(NULL))},
    {BATCH_MATMUL("BatchMatMulV2", INT(NULL))},
    {BATCH_MATMUL("BatchMatMulV3", ANY("Ta"), ANY("Tb")), .about = "all of one data type"},
    {"BiasAdd", .to = "Add", .make = make_bias_add,
     .attrs = {TEXT("data_format", "NHWC", NULL, "NHWC|NCHW")},
     .about = "NCHW of four dimensions only, with a Reshape of the bias"},
    {"BiasAddV1", .to = "Add"},
    {"Einsum", .to = "BatchMatMul, Transpose, Reshape", .make = make_einsum,
     .attrs = {TEXT("equation"), INT("N")},
     .about = "two operands whose labels are different letters, none of them in one operand only"},
    {BATCH_NORM("FusedBatchNorm")},
    {BATCH_NORM("FusedBatchNormV2")},
    {BATCH_NORM("FusedBatchNormV3")},
    {"MatMul", .to = "MatMul",
     .attrs = {BOOL("transpose_a", "0", "transpose_x1"), BOOL("transpose_b", "0", "transpose_x2"),
               BOOL("grad_a", "0"), BOOL("grad_b", "0")}},
    {NULL},
};
