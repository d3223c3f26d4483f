/* Operators of ONNX that change or tell shapes. */
#include "frontend/exchange/translate/onnx_rows.h"

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
    uint32_t x = tr_operand(t, 0), shape = tr_operand(t, 1);
    struct tr_ints dims;
    bool known = tr_contents(t, shape, &dims), zeros = tr_int(t, "allowzero");
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

static void make_old_reshape(struct translation *t)
{
    uint32_t x = tr_operand(t, 0);
    tr_give(t, 0, tr_reshape(t, x, fill_zeros(t, x, tr_ints(t, "shape"))));
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

static void give_all(struct translation *t, uint32_t first)
{
    for (uint32_t i = 0; i < t->n_results && !tr_refused(t); i++)
        tr_give(t, i, first + i);
}

static void split_equal(struct translation *t, uint32_t x, int64_t axis)
{
    tr_set_int(t, "split_dim", axis);
    tr_set_int(t, "num_split", t->n_results);
    give_all(t, tr_op(t, "SplitD", &x, 1, t->n_results));
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
    give_all(t, tr_op(t, "SplitVD", &x, 1, t->n_results));
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
        give_all(t, tr_op(t, "SplitV", operands, 3, t->n_results));
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
    {"Concat", 4, .to = "ConcatD", .make = make_concat, .attrs = {{"axis", OF_INT}}},
    {"ConstantOfShape", 9, .to = "Const, Fill", .make = make_constant_of_shape,
     .attrs = {{"value", OF_ANY}, {"value_type", OF_ANY}},
     .about = "Const where the shape is a constant; the value is 0 of f32 where it is absent"},
    {"DepthToSpace", 1, .to = "DepthToSpace",
     .attrs = {{"blocksize", OF_INT, NULL, "block_size"},
               {"mode", OF_TEXT, "DCR", "mode", "DCR|CRD"},
               {NULL, OF_TEXT, "NCHW", "data_format"}}},
    {"Expand", 8, .to = "Expand"},
    {"Flatten", 1, .to = "FlattenV2, Unsqueeze", .make = make_flatten,
     .attrs = {{"axis", OF_INT, "1"}}, .about = "the rank must be known"},
    {"Pad", 2, .until = 10, .to = "PadV3", .make = make_old_pad,
     .attrs = {{"pads", OF_INTS},
               {"mode", OF_TEXT, "constant", "mode", "constant|reflect|edge"},
               {"value", OF_FLOAT, "0"}},
     .about = "the data type must be known"},
    {"Pad", 11, .until = 17, .to = "PadV3", .make = make_pad,
     .attrs = {{"mode", OF_TEXT, "constant", "mode", "constant|reflect|edge"}},
     .about = "no pads below 0"},
    {"Pad", 18, .to = "PadV3", .make = make_pad,
     .attrs = {{"mode", OF_TEXT, "constant", "mode", "constant|reflect|edge"}},
     .about = "no pads below 0; pads and axes must be constants where there are axes"},
    {"Reshape", 1, .until = 4, .to = "Reshape", .make = make_old_reshape,
     .attrs = {{"shape", OF_INTS}}},
    {"Reshape", 5, .to = "Reshape", .make = make_reshape, .attrs = {{"allowzero", OF_BOOL, "0"}},
     .about = "where `allowzero` is 1, the shape is a constant or that of the result is known"},
    {"Shape", 1, .to = "Const, Shape", .make = make_shape,
     .attrs = {{"start", OF_INT, "0"}, {"end", OF_INT}},
     .about = "Const where all dimensions are static; with Slice for a part of the others"},
    {"Size", 1, .to = "Const, Size", .make = make_size, .about = "Const of static dimensions"},
    {"Slice", 1, .until = 9, .to = "StridedSliceV3", .make = make_old_slice,
     .attrs = {{"starts", OF_INTS}, {"ends", OF_INTS}, {"axes", OF_INTS}}},
    {"Slice", 10, .to = "StridedSliceV3"},
    {"SpaceToDepth", 1, .to = "SpaceToDepth",
     .attrs = {{"blocksize", OF_INT, NULL, "block_size"}, {NULL, OF_TEXT, "NCHW", "data_format"}}},
    {"Split", 2, .until = 12, .to = "SplitD, SplitVD", .make = make_split,
     .attrs = {{"axis", OF_INT, "0"}, {"split", OF_INTS}}},
    {"Split", 13, .until = 17, .to = "SplitD, SplitVD, SplitV", .make = make_split,
     .attrs = {{"axis", OF_INT, "0"}}, .about = "SplitV where the sizes are no constant"},
    {"Split", 18, .to = "SplitD, SplitVD, SplitV", .make = make_new_split,
     .attrs = {{"axis", OF_INT, "0"}, {"num_outputs", OF_INT}},
     .about = "SplitV where the sizes are no constant; without sizes the dimension must be known"},
    {"Squeeze", 1, .until = 12, .to = "Squeeze", .make = make_squeeze,
     .attrs = {{"axes", OF_INTS}}},
    {"Squeeze", 13, .to = "Squeeze, SqueezeV3", .make = make_squeeze,
     .about = "SqueezeV3 where the axes are no constant"},
    {"Tile", 6, .to = "Tile"},
    {"Transpose", 1, .to = "Transpose", .make = make_transpose, .attrs = {{"perm", OF_INTS}},
     .about = "without `perm` the rank must be known"},
    {"Unsqueeze", 1, .until = 12, .to = "Unsqueeze", .make = make_unsqueeze,
     .attrs = {{"axes", OF_INTS}}},
    {"Unsqueeze", 13, .to = "Unsqueeze, UnsqueezeV3", .make = make_unsqueeze,
     .about = "UnsqueezeV3 where the axes are no constant"},
    {NULL},
};
