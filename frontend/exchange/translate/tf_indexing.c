/* Operators of TensorFlow that take parts of tensors, or surround them. */
#include "frontend/exchange/translate/row_attrs.h"
#include "frontend/exchange/translate/tf_rows.h"

static void make_mirror_pad(struct translation *t)
{
    tr_set_text(t, "mode", "reflect");
    tr_give(t, 0, tr_make(t, "PadV3", tr_operand(t, 0), tr_operand(t, 1)));
}

#define MASK(name)                                                                                 \
    {                                                                                              \
        name, OF_INT, "0", name                                                                    \
    }

const struct translation_row tf_indexing[] = {
    {"Gather", .to = "Gather", .attrs = {{"validate_indices", OF_BOOL, "1"}}},
    {"GatherNd", .to = "GatherNd",
     .attrs = {{"bad_indices_policy", OF_TEXT, "", NULL, "|DEFAULT|ERROR"}}},
    {"GatherV2", .to = "GatherV2", .attrs = {{"batch_dims", OF_INT, "0", "batch_dims"}}},
    {"InvertPermutation", .to = "InvertPermutation"},
    {"MatrixBandPart", .to = "MatrixBandPart"},
    {"MirrorPad", .to = "PadV3", make_mirror_pad, {{"mode", OF_TEXT, NULL, NULL, "REFLECT"}}},
    {"OneHot", .to = "OneHot", .attrs = {{"axis", OF_INT, "-1", "axis"}}},
    {"Pad", .to = "Pad"},
    {"PadV2", .to = "PadV3", .attrs = {{NULL, OF_TEXT, "constant", "mode"}}},
    {"Range", .to = "Range"},
    {"ReverseV2", .to = "ReverseV2"},
    {"ScatterNd", .to = "ScatterNd",
     .attrs = {{"bad_indices_policy", OF_TEXT, "", NULL, "|DEFAULT|ERROR"}}},
    {"Slice", .to = "Slice"},
    {"StridedSlice", .to = "StridedSlice",
     .attrs = {MASK("begin_mask"), MASK("end_mask"), MASK("ellipsis_mask"), MASK("new_axis_mask"),
               MASK("shrink_axis_mask")}},
    {NULL},
};
