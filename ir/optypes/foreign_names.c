#include "ir/optypes/foreign_names.h"

#include <string.h>
#include <strings.h>

/* Names elsewhere of types, whatever their case; those of skirc but for their case have no row. */
static const struct {
    const char *name, *type;
} op_names[] = {
    {"Permute", "TransposeD"},
    {"Sum", "ReduceSumD"},
    {"Mean", "ReduceMeanD"},
    {"Amax", "ReduceMaxD"},
    {"Amin", "ReduceMinD"},
    {"Prod", "ReduceProdD"},
    {"Cat", "ConcatD"},
    {"Concatenate", "ConcatD"},
    {"Stack", "Pack"},
    {"Chunk", "SplitD"},
    {"Repeat", "TileD"},
    {"Expand", "BroadcastToD"},
    {"View", "Reshape"},
    {"Take", "GatherV2"},
    {"IndexSelect", "GatherV2"},
    {"Linear", "MatMul"},
    {"Gemm", "MatMul"},
    {"Dot", "MatMul"},
    {"Mm", "MatMul"},
    {"Bmm", "BatchMatMul"},
    {"Subtract", "Sub"},
    {"Multiply", "Mul"},
    {"Divide", "RealDiv"},
    {"TrueDivide", "RealDiv"},
    {"Power", "Pow"},
    {"Negative", "Neg"},
    {"Absolute", "Abs"},
    {"Clamp", "ClipByValue"},
    {"LayerNormalization", "LayerNorm"},
    {"RMSNormalization", "RmsNorm"},
    {"ScaledDotProductAttention", "FlashAttentionScore"},
    {"Attention", "FlashAttentionScore"},
};

/* Attributes that mean the same in one framework or another. */
static const char *const key_groups[] = {
    "axis axes dim dims dimension dimensions perm permutation order split_dim concat_dim",
    "keep_dims keepdims keepdim keep_dim",
    "epsilon eps",
    "transpose_x1 adj_x1 transpose_a trans_a transA transpose_x transpose_lhs adj_x",
    "transpose_x2 adj_x2 transpose_b trans_b transB transpose_y transpose_rhs adj_y",
    "multiples reps repeats repetitions",
    "begin offsets starts start",
    "end ends stops stop",
    "strides steps step",
    "size sizes",
    "shape sizes output_shape",
    "paddings pads pad padding pad_width",
    "num_split num_splits chunks sections num_outputs",
    "size_splits split splits split_sizes",
    "dst_type dtype to dst_dtype out_dtype",
    "negative_slope alpha slope",
    "value scalar other alpha",
    "value values val data contents constant init init_value initial_value fill fill_value",
    "begin_norm_axis axis normalized_shape",
    "head_num num_heads n_heads n_head heads",
    "num_heads head_num n_heads n_head q_num_heads",
    "num_key_value_heads num_kv_heads kv_heads n_kv_heads kv_num_heads",
    "clip_value_min min",
    "clip_value_max max",
    "scale_value scale softmax_scale",
    "scale scale_value softmax_scale",
    "k top_k topk",
};

static bool names_agree(const char *name, const char *text, size_t size)
{
    return strncasecmp(name, text, size) == 0 && name[size] == '\0';
}

const char *meant_op_type(const char *name, size_t size)
{
    for (size_t i = 0; i < sizeof op_names / sizeof op_names[0]; i++)
        if (names_agree(op_names[i].name, name, size))
            return op_names[i].type;
    return NULL;
}

struct suggest meant_type(struct op_types *types, const char *name, size_t size)
{
    struct suggest suggest = {.wanted = name, .wanted_size = size};
    const char *meant = meant_op_type(name, size);
    op_types_offer(types, &suggest);
    if (meant && !(suggest.best && suggest.distance == 0)) {
        suggest.best = meant;
        suggest.best_size = strlen(meant);
    }
    return suggest;
}

/* Whether a group of words has this one. */
static bool group_has(const char *words, const char *text, size_t size)
{
    while (*words) {
        size_t length = strcspn(words, " ");
        if (length == size && strncasecmp(words, text, size) == 0)
            return true;
        words += length + (words[length] == ' ');
    }
    return false;
}

bool meant_keys_agree(const char *a, size_t a_size, const char *b, size_t b_size)
{
    for (size_t i = 0; i < sizeof key_groups / sizeof key_groups[0]; i++)
        if (group_has(key_groups[i], a, a_size) && group_has(key_groups[i], b, b_size))
            return true;
    return false;
}

struct suggest meant_key(const struct op_type *type, const char *key, size_t size)
{
    struct suggest suggest = {.wanted = key, .wanted_size = size};
    for (uint32_t i = 0; i < type->n_attrs; i++) {
        const char *name = type->attrs[i].name;
        if (!meant_keys_agree(key, size, name, strlen(name)))
            continue;
        suggest.best = name;
        suggest.best_size = strlen(name);
        return suggest;
    }
    for (uint32_t i = 0; i < type->n_attrs; i++)
        suggest_offer_text(&suggest, type->attrs[i].name);
    return suggest;
}
