/* Operators of ONNX that change or tell shapes, and those that find, sort, gather and scatter
 * elements. */
#include "frontend/import/translate/rows.h"

#include <string.h>

bool onnx_dtype(struct translation *t, int64_t number, enum dtype *dtype)
{
    static const struct {
        unsigned dtype;
        int number;
    } rows[] = {
#define DUMP_DTYPE(dtype, ge, proto, number, onnx, tf, tf_number) {DTYPE_##dtype, onnx},
#include "ir/core/foreign_dtypes.def"
#undef DUMP_DTYPE
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (number > 0 && rows[i].number == number && rows[i].dtype != DTYPE_UNKNOWN) {
            *dtype = (enum dtype)rows[i].dtype;
            return true;
        }
    tr_refuse(t, "skir does not have data type %lld", (long long)number);
    return false;
}

struct tr_ints onnx_one(struct translation *t, int64_t number)
{
    int64_t *at = tr_array(t, 1);
    at[0] = number;
    return (struct tr_ints){at, 1};
}

bool onnx_operand_ints(struct translation *t, uint32_t operand, const char *attr,
                       struct tr_ints *ints)
{
    uint32_t value = tr_optional(t, operand);
    if (value != NONE)
        return tr_contents(t, value, ints);
    *ints = (struct tr_ints){NULL, 0};
    if (attr && tr_has(t, attr))
        *ints = tr_ints(t, attr);
    return true;
}

/* -------------------------------------------------------------------------- reshape ---- */

/* The type of the result as the model says it, if all its dimensions are static. */
static bool said_dims(struct translation *t, struct tr_ints *dims)
{
    uint32_t said = t->n_results ? t->results[0].type : NONE;
    uint32_t rank = said == NONE ? RANK_UNKNOWN : t->module->types.at[said].rank;
    *dims = (struct tr_ints){NULL, 0};
    if (rank == RANK_UNKNOWN)
        return false;
    int64_t *at = tr_array(t, rank);
    *dims = (struct tr_ints){at, rank};
    for (uint32_t i = 0; i < rank; i++) {
        at[i] = type_dims(t->module, said)[i];
        if (at[i] < 0)
            return false;
    }
    return true;
}

/* x with these dimensions, which are all meant as they are: a 0 copies nothing. */
static void reshape_to(struct translation *t, uint32_t x, struct tr_ints dims)
{
    tr_set_type(t, tr_need_dtype(t, x), dims);
    tr_give(t, 0, tr_make(t, "Reshape", x));
}

/* Zeros are the dimensions of x where these are known. */
static struct tr_ints fill_zeros(struct translation *t, uint32_t x, struct tr_ints shape)
{
    int64_t *at = tr_array(t, shape.count);
    for (uint32_t i = 0; i < shape.count; i++) {
        int64_t dim = tr_dim(t, x, i);
        at[i] = shape.at[i] == 0 && dim >= 0 ? dim : shape.at[i];
    }
    return (struct tr_ints){at, shape.count};
}

static void make_reshape(struct translation *t)
{
    bool old = t->row->until;
    uint32_t x = tr_operand(t, 0), shape = old ? NONE : tr_operand(t, 1);
    struct tr_ints dims = old ? tr_ints(t, "shape") : (struct tr_ints){NULL, 0};
    bool known = old || tr_contents(t, shape, &dims), zeros = !old && tr_int(t, "allowzero");
    if (known && zeros && tr_among(dims, 0))
        reshape_to(t, x, dims);
    else if (known)
        tr_give(t, 0, tr_reshape(t, x, fill_zeros(t, x, dims)));
    else if (!zeros)
        tr_give(t, 0, tr_make(t, "Reshape", x, shape));
    else if (said_dims(t, &dims))
        reshape_to(t, x, dims);
    else
        tr_refuse(t, "attribute 'allowzero' is 1, and neither operand 'shape' nor the shape of the "
                     "result is known");
}

uint32_t onnx_flatten(struct translation *t, uint32_t x, int64_t axis, uint32_t rank)
{
    if (rank == 0 || axis == 0 || axis == (int64_t)rank) {
        if (rank > 1) {
            tr_set_int(t, "axis", 0);
            tr_set_int(t, "end_axis", -1);
            x = tr_make(t, "FlattenV2", x);
        }
        int64_t *axes = tr_array(t, 2);
        axes[0] = axis == 0 ? 0 : 1;
        axes[1] = 1;
        tr_set_ints(t, "axes", (struct tr_ints){axes, rank == 0 ? 2 : 1});
        return tr_make(t, "Unsqueeze", x);
    }
    if (axis > 1) {
        tr_set_int(t, "axis", 0);
        tr_set_int(t, "end_axis", axis - 1);
        x = tr_make(t, "FlattenV2", x);
    }
    if (axis < (int64_t)rank - 1) {
        tr_set_int(t, "axis", 1);
        tr_set_int(t, "end_axis", -1);
        x = tr_make(t, "FlattenV2", x);
    }
    return x;
}

int64_t onnx_split_axis(struct translation *t, int64_t axis, uint32_t rank)
{
    return axis == (int64_t)rank ? axis : tr_axis(t, axis, rank);
}

static void make_flatten(struct translation *t)
{
    uint32_t x = tr_operand(t, 0), rank = tr_need_rank(t, x);
    int64_t axis = onnx_split_axis(t, tr_int(t, "axis"), rank);
    tr_give(t, 0, onnx_flatten(t, x, axis, rank));
}

/* ------------------------------------------------------------------ squeeze and back ---- */

static void make_squeeze(struct translation *t)
{
    uint32_t x = tr_operand(t, 0);
    struct tr_ints axes;
    if (onnx_operand_ints(t, 1, t->row->until ? "axes" : NULL, &axes)) {
        bool none = t->row->until ? tr_has(t, "axes") : tr_optional(t, 1) != NONE;
        if (none && axes.count == 0) /* versions of ONNX differ in whether these are all */
            tr_refuse(t, "its axes are there, but none");
        tr_set_ints(t, "axis", axes);
        tr_give(t, 0, tr_make(t, "Squeeze", x));
    } else {
        tr_give(t, 0, tr_make(t, "SqueezeV3", x, tr_operand(t, 1)));
    }
}

static int by_number(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

uint32_t onnx_unsqueeze(struct translation *t, uint32_t x, struct tr_ints axes)
{
    int64_t *at = tr_array(t, axes.count);
    for (uint32_t i = 0; i < axes.count; i++)
        at[i] =
            axes.at[i] < 0 ? tr_axis(t, axes.at[i], tr_need_rank(t, x) + axes.count) : axes.at[i];
    if (axes.count)
        qsort(at, axes.count, sizeof *at, by_number);
    tr_set_ints(t, "axes", (struct tr_ints){at, axes.count});
    return tr_make(t, "Unsqueeze", x);
}

static void make_unsqueeze(struct translation *t)
{
    uint32_t x = tr_operand(t, 0);
    struct tr_ints axes;
    if (!t->row->until && tr_operand(t, 1) == NONE)
        return;
    if (onnx_operand_ints(t, 1, t->row->until ? "axes" : NULL, &axes))
        tr_give(t, 0, onnx_unsqueeze(t, x, axes));
    else
        tr_give(t, 0, tr_make(t, "UnsqueezeV3", x, tr_operand(t, 1)));
}

/* ------------------------------------------------------------------------- transpose ---- */

static void make_transpose(struct translation *t)
{
    uint32_t x = tr_operand(t, 0);
    struct tr_ints perm;
    if (tr_has(t, "perm")) {
        perm = tr_ints(t, "perm");
    } else {
        uint32_t rank = tr_need_rank(t, x);
        int64_t *at = tr_array(t, rank);
        for (uint32_t i = 0; i < rank; i++)
            at[i] = rank - 1 - i;
        perm = (struct tr_ints){at, rank};
    }
    tr_give(t, 0, tr_make(t, "Transpose", x, tr_const_ints(t, "perm", perm)));
}

/* ------------------------------------------------------------------- concat and split ---- */

static void make_concat(struct translation *t)
{
    if (t->n_operands == 0)
        tr_operand(t, 0);
    for (uint32_t i = 0; i < t->n_operands; i++)
        tr_operand(t, i);
    tr_set_int(t, "concat_dim", tr_int(t, "axis"));
    tr_set_int(t, "N", t->n_operands);
    tr_give(t, 0, tr_listed(t, "ConcatD", t->operands, t->n_operands, NONE));
}

static void split_equal(struct translation *t, uint32_t x, int64_t axis)
{
    tr_set_int(t, "split_dim", axis);
    tr_set_int(t, "num_split", t->n_results);
    tr_give_all(t, tr_op(t, "SplitD", &x, 1, t->n_results));
}

static void split_sizes(struct translation *t, uint32_t x, int64_t axis, struct tr_ints sizes)
{
    if (sizes.count != t->n_results) {
        tr_refuse(t, "it has %u sizes for %u outputs", sizes.count, t->n_results);
        return;
    }
    tr_set_ints(t, "size_splits", sizes);
    tr_set_int(t, "split_dim", axis);
    tr_set_int(t, "num_split", t->n_results);
    tr_give_all(t, tr_op(t, "SplitVD", &x, 1, t->n_results));
}

static void make_split(struct translation *t)
{
    uint32_t x = tr_operand(t, 0), split = tr_optional(t, 1);
    int64_t axis = tr_int(t, "axis");
    struct tr_ints sizes;
    bool old = t->row->until == 12;
    if (!onnx_operand_ints(t, 1, old ? "split" : NULL, &sizes)) {
        uint32_t operands[] = {x, split, tr_const_int(t, "axis", axis)};
        tr_set_int(t, "num_split", t->n_results);
        tr_give_all(t, tr_op(t, "SplitV", operands, 3, t->n_results));
    } else if (split != NONE || sizes.count) {
        split_sizes(t, x, axis, sizes);
    } else {
        split_equal(t, x, axis);
    }
}

/* The last of a number of outputs may be smaller. */
static void make_new_split(struct translation *t)
{
    uint32_t x = tr_operand(t, 0);
    if (tr_optional(t, 1) != NONE) {
        make_split(t);
        return;
    }
    int64_t axis = tr_axis(t, tr_int(t, "axis"), tr_need_rank(t, x));
    int64_t dim = tr_need_dim(t, x, (uint32_t)axis), count = t->n_results;
    if (count == 0 || (tr_has(t, "num_outputs") && tr_int(t, "num_outputs") != count)) {
        tr_refuse(t, "attribute 'num_outputs' is not the number of its outputs");
        return;
    }
    int64_t *sizes = tr_array(t, t->n_results), part = (dim + count - 1) / count;
    for (int64_t i = 0; i < count; i++)
        sizes[i] = i < count - 1 ? part : dim - part * (count - 1);
    if (sizes[count - 1] < 0)
        tr_refuse(t, "a dimension of %lld has no %lld parts", (long long)dim, (long long)count);
    if (sizes[count - 1] == part)
        split_equal(t, x, axis);
    else
        split_sizes(t, x, axis, (struct tr_ints){sizes, t->n_results});
}

/* ----------------------------------------------------------------------------- slice ---- */

/* Axes that are left out are the first ones. */
static void make_old_slice(struct translation *t)
{
    uint32_t x = tr_operand(t, 0), axes = NONE;
    uint32_t starts = tr_const_ints(t, "starts", tr_ints(t, "starts"));
    uint32_t ends = tr_const_ints(t, "ends", tr_ints(t, "ends"));
    if (tr_has(t, "axes"))
        axes = tr_const_ints(t, "axes", tr_ints(t, "axes"));
    tr_give(t, 0, tr_make(t, "StridedSliceV3", x, starts, ends, axes));
}

/* ------------------------------------------------------------------------------- pad ---- */

/* The pads of some axes as those of all. */
static struct tr_ints all_pads(struct translation *t, struct tr_ints pads, struct tr_ints axes,
                               uint32_t rank)
{
    int64_t *all = tr_array(t, 2 * rank);
    if (pads.count != 2 * axes.count)
        tr_refuse(t, "it has %u pads for %u axes", pads.count, axes.count);
    for (uint32_t i = 0; i < axes.count && !tr_refused(t); i++) {
        int64_t axis = tr_axis(t, axes.at[i], rank);
        all[axis] = pads.at[i];
        all[rank + axis] = pads.at[axes.count + i];
    }
    return (struct tr_ints){all, 2 * rank};
}

static void pad(struct translation *t, uint32_t x, uint32_t pads, uint32_t value)
{
    struct attr_value mode;
    tr_value(t, "mode", &mode);
    tr_set(t, "mode", mode);
    tr_set_flag(t, "paddings_contiguous", false);
    tr_give(t, 0, tr_make(t, "PadV3", x, pads, value));
}

static void make_pad(struct translation *t)
{
    uint32_t x = tr_operand(t, 0), pads = tr_operand(t, 1), axes = tr_optional(t, 3);
    struct tr_ints of_axes, numbers;
    tr_most_operands(t, t->row->until == 17 ? 3 : 4);
    if (axes != NONE) {
        if (!tr_contents(t, axes, &of_axes) || !tr_contents(t, pads, &numbers)) {
            tr_refuse(t, "its axes are not known");
            return;
        }
        pads = tr_const_ints(t, "pads", all_pads(t, numbers, of_axes, tr_need_rank(t, x)));
    }
    pad(t, x, pads, tr_optional(t, 2));
}

static void make_old_pad(struct translation *t)
{
    uint32_t x = tr_operand(t, 0);
    uint32_t pads = tr_const_ints(t, "pads", tr_ints(t, "pads"));
    pad(t, x, pads, tr_const(t, "value", tr_need_dtype(t, x), tr_float(t, "value")));
}

/* ------------------------------------------------------------------------ their values ---- */

/* A place among `count` dimensions, or past them; counted from the end below 0. */
static int64_t clamped(int64_t place, int64_t count)
{
    place = place < 0 ? place + count : place;
    return place < 0 ? 0 : place > count ? count : place;
}

static void make_shape(struct translation *t)
{
    uint32_t x = tr_operand(t, 0);
    struct tr_ints dims;
    bool known = tr_dims(t, x, &dims), whole = !tr_has(t, "start") && !tr_has(t, "end");
    int64_t rank = whole && !known ? 0 : (int64_t)tr_need_rank(t, x);
    int64_t start = clamped(tr_int(t, "start"), rank), end = rank;
    if (tr_has(t, "end"))
        end = clamped(tr_int(t, "end"), rank);
    end = end < start ? start : end;
    if (known) {
        struct tr_ints part = {dims.at + start, (uint32_t)(end - start)};
        tr_give(t, 0, tr_const_ints(t, "shape", part));
        return;
    }
    tr_set_dtype(t, "dtype", DTYPE_i64);
    uint32_t shape = tr_make(t, "Shape", x);
    if (!whole)
        shape = tr_make(t, "Slice", shape, tr_const_ints(t, "start", onnx_one(t, start)),
                        tr_const_ints(t, "size", onnx_one(t, end - start)));
    tr_give(t, 0, shape);
}

static void make_size(struct translation *t)
{
    uint32_t x = tr_operand(t, 0);
    uint64_t elements;
    if (x != NONE && type_elements(t->module, t->graph->values.at[x].type, &elements)) {
        tr_give(t, 0, tr_const_int(t, "size", (int64_t)elements));
        return;
    }
    tr_set_dtype(t, "dtype", DTYPE_i64);
    tr_give(t, 0, tr_make(t, "Size", x));
}

/* The number that fills a tensor, of an attribute that is one of one element. */
static struct attr_value fill_value(struct translation *t, enum dtype *dtype)
{
    struct attr_value value = {.kind = ATTR_FLOAT}, type;
    *dtype = DTYPE_f32;
    if (!tr_has(t, "value"))
        return value;
    bool known = tr_value(t, "value", &value) && tr_value(t, "value_type", &type) &&
                 type.kind == ATTR_TYPE &&
                 t->module->types.at[type.id].dtype != (enum dtype)DTYPE_UNKNOWN &&
                 (value.kind == ATTR_INT || value.kind == ATTR_FLOAT || value.kind == ATTR_BOOL);
    if (known)
        *dtype = t->module->types.at[type.id].dtype;
    else
        tr_refuse(t, "attribute 'value' is no single number of a known data type");
    return value;
}

static void make_constant_of_shape(struct translation *t)
{
    uint32_t shape = tr_operand(t, 0);
    struct tr_ints dims;
    enum dtype dtype;
    struct attr_value value = fill_value(t, &dtype);
    bool known = tr_contents(t, shape, &dims);
    tr_set_type(t, dtype, known ? dims : (struct tr_ints){NULL, 0});
    tr_set(t, "value", value);
    uint32_t constant = tr_make_source(t, "Const");
    tr_give(t, 0, known ? constant : tr_make(t, "Fill", shape, constant));
}

/* ------------------------------------------------------------------------------ rows ---- */

const struct translation_row onnx_shape[] = {
    {"Concat", 4, .to = "ConcatD", .make = make_concat, .attrs = {INT("axis")}},
    {"ConstantOfShape", 9, .to = "Const, Fill", .make = make_constant_of_shape,
     .attrs = {ANY("value"), ANY("value_type")},
     .about = "Const where the shape is a constant; the value is 0 of f32 where it is absent"},
    {"DepthToSpace", 1, .to = "DepthToSpace",
     .attrs = {INT("blocksize", NULL, "block_size"), TEXT("mode", "DCR", "mode", "DCR|CRD"),
               TEXT(NULL, "NCHW", "data_format")}},
    {"Expand", 8, .to = "Expand"},
    {"Flatten", 1, .to = "FlattenV2, Unsqueeze", .make = make_flatten, .attrs = {INT("axis", "1")},
     .about = "the rank must be known"},
    {"Pad", 2, .until = 10, .to = "PadV3", .make = make_old_pad,
     .attrs = {INTS("pads"), TEXT("mode", "constant", "mode", "constant|reflect|edge"),
               FLOAT("value", "0")},
     .about = "the data type must be known"},
    {"Pad", 11, .until = 17, .to = "PadV3", .make = make_pad,
     .attrs = {TEXT("mode", "constant", "mode", "constant|reflect|edge")},
     .about = "no pads below 0"},
    {"Pad", 18, .to = "PadV3", .make = make_pad,
     .attrs = {TEXT("mode", "constant", "mode", "constant|reflect|edge")},
     .about = "no pads below 0; pads and axes must be constants where there are axes"},
    {"Reshape", 1, .until = 4, .to = "Reshape", .make = make_reshape, .attrs = {INTS("shape")}},
    {"Reshape", 5, .to = "Reshape", .make = make_reshape, .attrs = {BOOL("allowzero", "0")},
     .about = "where `allowzero` is 1, the shape is a constant or that of the result is known"},
    {"Shape", 1, .to = "Const, Shape", .make = make_shape, .attrs = {INT("start", "0"), INT("end")},
     .about = "Const where all dimensions are static; with Slice for a part of the others"},
    {"Size", 1, .to = "Const, Size", .make = make_size, .about = "Const of static dimensions"},
    {"Slice", 1, .until = 9, .to = "StridedSliceV3", .make = make_old_slice,
     .attrs = {INTS("starts"), INTS("ends"), INTS("axes")}},
    {"Slice", 10, .to = "StridedSliceV3"},
    {"SpaceToDepth", 1, .to = "SpaceToDepth",
     .attrs = {INT("blocksize", NULL, "block_size"), TEXT(NULL, "NCHW", "data_format")}},
    {"Split", 2, .until = 12, .to = "SplitD, SplitVD", .make = make_split,
     .attrs = {INT("axis", "0"), INTS("split")}},
    {"Split", 13, .until = 17, .to = "SplitD, SplitVD, SplitV", .make = make_split,
     .attrs = {INT("axis", "0")}, .about = "SplitV where the sizes are no constant"},
    {"Split", 18, .to = "SplitD, SplitVD, SplitV", .make = make_new_split,
     .attrs = {INT("axis", "0"), INT("num_outputs")},
     .about = "SplitV where the sizes are no constant; without sizes the dimension must be known"},
    {"Squeeze", 1, .until = 12, .to = "Squeeze", .make = make_squeeze, .attrs = {INTS("axes")}},
    {"Squeeze", 13, .to = "Squeeze, SqueezeV3", .make = make_squeeze,
     .about = "SqueezeV3 where the axes are no constant"},
    {"Tile", 6, .to = "Tile"},
    {"Transpose", 1, .to = "Transpose", .make = make_transpose, .attrs = {INTS("perm")},
     .about = "without `perm` the rank must be known"},
    {"Unsqueeze", 1, .until = 12, .to = "Unsqueeze", .make = make_unsqueeze,
     .attrs = {INTS("axes")}},
    {"Unsqueeze", 13, .to = "Unsqueeze, UnsqueezeV3", .make = make_unsqueeze,
     .about = "UnsqueezeV3 where the axes are no constant"},
    {NULL},
};

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

static void make_arg(struct translation *t)
{
    const char *type = strcmp(t->row->op, "ArgMax") == 0 ? "ArgMaxV2" : "ArgMin";
    uint32_t x = tr_operand(t, 0);
    int64_t axis = tr_axis(t, tr_int(t, "axis"), tr_need_rank(t, x));
    uint32_t arg =
        tr_int(t, "select_last_index") ? last_arg(t, type, x, axis) : arg_of(t, type, x, axis);
    tr_give(t, 0, tr_int(t, "keepdims") ? onnx_unsqueeze(t, arg, onnx_one(t, axis)) : arg);
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

/* In older operator sets the dimensions from the axis on are one. */
static void make_hardmax(struct translation *t)
{
    uint32_t x = tr_operand(t, 0), rank = tr_need_rank(t, x);
    struct tr_ints dims;
    if (!t->row->until) {
        tr_give(t, 0, hardmax(t, x, tr_axis(t, tr_int(t, "axis"), rank), rank));
        return;
    }
    int64_t axis = onnx_split_axis(t, tr_int(t, "axis"), rank);
    if (!tr_dims(t, x, &dims))
        tr_refuse(t, "a dimension is not known");
    tr_give(t, 0, tr_reshape(t, hardmax(t, onnx_flatten(t, x, axis, rank), 1, 2), dims));
}

static void make_top_k(struct translation *t)
{
    bool old = t->row->until, oldest = t->row->until == 9;
    uint32_t k = oldest ? tr_const_int(t, "k", tr_int(t, "k")) : tr_operand(t, 1);
    uint32_t operands[] = {tr_operand(t, 0), k};
    tr_set_flag(t, "sorted", old || tr_int(t, "sorted"));
    tr_set_int(t, "dim", tr_int(t, "axis"));
    tr_set_flag(t, "largest", old || tr_int(t, "largest"));
    tr_set_dtype(t, "indices_dtype", DTYPE_i64);
    uint32_t first = tr_op(t, "TopKV2", operands, 2, 2);
    tr_give(t, 0, first);
    tr_give(t, 1, first + 1);
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
    {"ArgMax", 1, .to = "ArgMaxV2, Unsqueeze", .make = make_arg,
     .attrs = {INT("axis", "0"), BOOL("keepdims", "1"), BOOL("select_last_index", "0")},
     .about = "with ReverseV2 and Sub for the last of several; the rank must be known"},
    {"ArgMin", 1, .to = "ArgMin, Unsqueeze", .make = make_arg,
     .attrs = {INT("axis", "0"), BOOL("keepdims", "1"), BOOL("select_last_index", "0")},
     .about = "as ArgMax"},
    {"CumSum", 11, .to = "Cumsum",
     .attrs = {BOOL("exclusive", "0", "exclusive"), BOOL("reverse", "0", "reverse")}},
    {"EyeLike", 9, .to = "Sub, Equal, Cast", .make = make_eye_like,
     .attrs = {INT("dtype"), INT("k", "0")}, .about = "of static dimensions"},
    {"Gather", 1, .to = "GatherV2", .make = make_gather, .attrs = {INT("axis", "0")},
     .about = "with `negative_index_support`"},
    {"GatherElements", 11, .to = "GatherElements", .attrs = {INT("axis", "0", "dim")}},
    {"GatherND", 11, .to = "GatherNd", .make = make_gather_nd, .attrs = {INT("batch_dims", "0")},
     .about =
         "with `negative_index_support`; where `batch_dims` is not 0, of static dimensions, and "
         "with Reshape, BroadcastTo and ConcatD"},
    {"Hardmax", 1, .until = 12, .to = "ArgMaxV2, Equal, Cast", .make = make_hardmax,
     .attrs = {INT("axis", "1")},
     .about = "the dimensions from `axis` on are one; of static dimensions"},
    {"Hardmax", 13, .to = "ArgMaxV2, Equal, Cast", .make = make_hardmax,
     .attrs = {INT("axis", "-1")}, .about = "the dimension must be known"},
    {"OneHot", 9, .to = "OneHot", .make = make_one_hot, .attrs = {INT("axis", "-1", "axis")},
     .about = "with Less, Add and SelectV2 for indices below 0"},
    {"Range", 11, .to = "Range", .make = make_range},
    {"Scatter", 9, .to = "ScatterElements",
     .attrs = {INT("axis", "0", "axis"), TEXT(NULL, "none", "reduction")}},
    {"ScatterElements", 11, .to = "ScatterElements",
     .attrs = {INT("axis", "0", "axis"), TEXT("reduction", "none", "reduction", "none|add|mul")}},
    {"ScatterND", 11, .to = "TensorScatterUpdate", .make = make_scatter_nd,
     .attrs = {TEXT("reduction", "none", NULL, "none|add|max|min")},
     .about = "TensorScatterAdd, TensorScatterMax and TensorScatterMin by `reduction`"},
    {"TopK", 1, .until = 9, .to = "TopKV2", .make = make_top_k,
     .attrs = {INT("axis", "-1", "dim"), INT("k")}},
    {"TopK", 10, .until = 10, .to = "TopKV2", .make = make_top_k,
     .attrs = {INT("axis", "-1", "dim")}},
    {"TopK", 11, .to = "TopKV2", .make = make_top_k,
     .attrs = {INT("axis", "-1", "dim"), BOOL("largest", "1", "largest"),
               BOOL("sorted", "1", "sorted")}},
    {"Trilu", 14, .to = "Sub, GreaterEqual, LessEqual, SelectV2", .make = make_trilu,
     .attrs = {BOOL("upper", "1")}, .about = "the last two dimensions must be known"},
    {NULL},
};
