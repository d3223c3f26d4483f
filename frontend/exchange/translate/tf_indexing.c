/* Operators of TensorFlow that take parts of tensors, or surround them. */
#include "frontend/exchange/translate/tf_rows.h"

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

#define MASK(name)                                                                                 \
    {                                                                                              \
        name, OF_INT, "0", name                                                                    \
    }

#define SCATTERS(name)                                                                             \
    {                                                                                              \
        name, .to = name, .attrs = { {"bad_indices_policy", OF_TEXT, "", NULL, "|DEFAULT|ERROR"} } \
    }

const struct translation_row tf_indexing[] = {
    {"DepthToSpace", .to = "DepthToSpace",
     .attrs = {{"block_size", OF_INT, NULL, "block_size"},
               {"data_format", OF_TEXT, "NHWC", "data_format", "NHWC|NCHW"},
               {NULL, OF_TEXT, "DCR", "mode"}}},
    {"Gather", .to = "Gather", .attrs = {{"validate_indices", OF_BOOL, "1"}}},
    SCATTERS("GatherNd"),
    {"GatherV2", .to = "GatherV2", .attrs = {{"batch_dims", OF_INT, "0", "batch_dims"}}},
    {"InvertPermutation", .to = "ScatterNd", .make = make_invert,
     .about = "the size must be known"},
    {"MatrixBandPart", .to = "MatrixBandPart"},
    {"MirrorPad", .to = "MirrorPad", .attrs = {{"mode", OF_TEXT, NULL, "mode"}}},
    {"OneHot", .to = "OneHot", .attrs = {{"axis", OF_INT, "-1", "axis"}}},
    {"Pad", .to = "Pad"},
    {"PadV2", .to = "PadV2"},
    {"Range", .to = "Range", .make = make_range},
    {"ReverseV2", .to = "ReverseV2"},
    SCATTERS("ScatterNd"),
    {"Slice", .to = "Slice"},
    {"SpaceToDepth", .to = "SpaceToDepth",
     .attrs = {{"block_size", OF_INT, NULL, "block_size"},
               {"data_format", OF_TEXT, "NHWC", "data_format", "NHWC|NCHW"}}},
    {"StridedSlice", .to = "StridedSlice",
     .attrs = {MASK("begin_mask"), MASK("end_mask"), MASK("ellipsis_mask"), MASK("new_axis_mask"),
               MASK("shrink_axis_mask")}},
    SCATTERS("TensorScatterAdd"),
    SCATTERS("TensorScatterMax"),
    SCATTERS("TensorScatterMin"),
    SCATTERS("TensorScatterSub"),
    SCATTERS("TensorScatterUpdate"),
    {NULL},
};
