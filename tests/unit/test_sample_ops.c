/* The signatures of the sample ops: what is accepted, and its negative twin for every rule. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "backend/kernels/nz.h"
#include "backend/kernels/sample_ops.h"
#include "backend/kernels/sample_tiling.h"
#include "ir/op_types.h"

enum { MAX_TENSORS = 33, MAX_TEST_ATTRS = 5 };

/* An op in text: tensors "f32[2, 3]" or "i8[4, 5]:NZ", "none", lists of two equal ones
 * "2 * f32[3]", attributes "key=value", where a value may be a text, "'text", "[]" or "[1, 0]". */
struct op_text {
    const char *type;
    unsigned n_operands, n_results;
    const char *tensors[MAX_TENSORS];
    const char *attrs[MAX_TEST_ATTRS];
};

static uint32_t dtype_parse(const char *text, size_t length)
{
    static const char *const names[] = {
#define DTYPE(name, ...) #name,
#include "ir/dtypes.def"
#undef DTYPE
    };
    for (uint32_t i = 0; i < SKRT_DTYPE_COUNT; i++)
        if (strlen(names[i]) == length && memcmp(names[i], text, length) == 0)
            return i;
    return SKRT_DTYPE_COUNT;
}

static struct skrt_tensor tensor_parse(const char *text)
{
    static struct skrt_tensor pair[2];
    if (strcmp(text, "none") == 0)
        return (struct skrt_tensor){.form = SKRT_ABSENT};
    if (strcmp(text, "0 *") == 0)
        return (struct skrt_tensor){.form = SKRT_LIST, .list = pair};
    if (strncmp(text, "2 * ", 4) == 0) {
        pair[0] = pair[1] = tensor_parse(text + 4);
        return (struct skrt_tensor){.form = SKRT_LIST, .count = 2, .list = pair};
    }
    const char *at = strchr(text, '[');
    struct skrt_tensor tensor = {.dtype = dtype_parse(text, (size_t)(at - text))};
    for (at++; *at != ']'; at += strspn(at, ", ")) {
        char *end;
        int64_t dim = strtoll(at, &end, 10);
        if (tensor.rank < SKRT_MAX_RANK)
            tensor.dims[tensor.rank] = dim;
        tensor.rank++;
        at = end;
    }
    tensor.format = strcmp(at, "]:NZ") == 0 ? SKRT_FRACTAL_NZ : at[1] == ':' ? 99 : SKRT_ND;
    return tensor;
}

static struct skrt_attr attr_of_ints(struct skrt_attr attr, const int64_t *ints, uint64_t count)
{
    attr.ints = ints;
    attr.count = count;
    return attr;
}

static struct skrt_attr attr_parse(const char *text)
{
    struct skrt_attr attr = {.i = 0};
    static const int64_t ints[] = {1, 0};
    size_t length = strcspn(text, "=");
    assert_true(length < sizeof attr.key);
    memcpy(attr.key, text, length);
    if (text[length + 1] == '\'')
        attr.text = text + length + 2;
    else if (text[length + 1] == '[')
        attr = attr_of_ints(attr, ints, text[length + 2] == ']' ? 0 : 2);
    attr.f = strtod(text + length + 1, NULL);
    attr.i = isfinite(attr.f) ? (int64_t)attr.f : 0;
    return attr;
}

/* What is known of op types. */
static struct op_types *known;

static bool op_check(const struct op_text *op, struct sample_op_error *error)
{
    struct skrt_tensor tensors[MAX_TENSORS];
    struct skrt_attr attrs[MAX_TEST_ATTRS];
    unsigned n_attrs = 0;
    for (unsigned i = 0; i < op->n_operands + op->n_results; i++)
        tensors[i] = tensor_parse(op->tensors[i]);
    for (; n_attrs < MAX_TEST_ATTRS && op->attrs[n_attrs] != NULL; n_attrs++)
        attrs[n_attrs] = attr_parse(op->attrs[n_attrs]);
    memset(error, 0, sizeof *error);
    return sample_op_check(known, op->type, tensors, op->n_operands, op->n_results, attrs, n_attrs,
                           error);
}

#define DSQ "DequantSwigluQuant", 7, 2
#define NONES_2 "none", "none"
#define NONES_5 "none", "none", "none", "none", "none"
#define QBMM "QuantBatchMatmulV3", 6, 1
#define FIA "FusedInferAttentionScore", 31, 2
#define FAS "FlashAttentionScore", 12, 4
#define NONES_3 "none", "none", "none"
#define EMPTY_4 "0 *", "0 *", "0 *", "0 *"
#define GMM "GroupedMatmul", 9, 1
#define NONES_26                                                                                   \
    "none", "none", "none", "none", "none", "none", "none", "none", "none", "none", "none",        \
        "none", "none", "none", "none", "none", "none", "none", "none", "none", "none", "none",    \
        "none", "none", "none", "none"

static const struct op_text accepted[] = {
    {"Transpose", 2, 1, {"u8[2, 3]", "i32[2]", "u8[3, 2]"}, {0}},
    {"TransposeD", 1, 1, {"u8[2, 3]", "u8[3, 2]"}, {"perm=[1, 0]"}},
    {"Slice", 3, 1, {"bool[2, 3]", "i64[2]", "i64[2]", "bool[1, 3]"}, {0}},
    {"SliceD", 1, 1, {"bool[2, 3]", "bool[1, 0]"}, {"offsets=[1, 0]", "size=[1, 0]"}},
    {"StridedSlice", 4, 1, {"f16[4]", "i32[1]", "i32[1]", "none", "f16[2]"}, {"end_mask=1"}},
    {"StridedSlice", 4, 1, {"f16[4]", "i32[1]", "i32[1]", "i32[1]", "f16[2]"}, {0}},
    {"StridedSliceD", 1, 1, {"f16[4]", "f16[2]"}, {"begin_mask=1"}},
    {"Tile", 2, 1, {"f64[2, 3]", "i64[2]", "f64[4, 3]"}, {0}},
    {"TileD", 1, 1, {"f64[2, 3]", "f64[2, 0]"}, {"multiples=[1, 0]"}},
    {"BroadcastTo", 2, 1, {"u16[3]", "i64[2]", "u16[2, 3]"}, {0}},
    {"BroadcastToD", 1, 1, {"u16[1]", "u16[1, 0]"}, {"shape=[1, 0]"}},
    {"Fill", 2, 1, {"i64[2]", "bf16[]", "bf16[2, 3]"}, {0}},
    {"Pad", 2, 1, {"u32[3]", "i64[1, 2]", "u32[6]"}, {0}},
    {"PadV3", 3, 1, {"u32[3]", "i64[2]", "u32[]", "u32[6]"}, {"paddings_contiguous=0"}},
    {"PadV3", 3, 1, {"u32[3]", "i64[2]", "none", "u32[6]"}, {0}},
    {"Gather", 2, 1, {"f32[9, 4]", "i32[2, 3]", "f32[2, 3, 4]"}, {0}},
    {"Gather", 2, 1, {"f32[2, 9]", "i32[2, 3]", "f32[2, 3]"}, {"batch_dims=1"}},
    {"GatherV2", 3, 1, {"f32[9, 4]", "i32[2, 3]", "i64[]", "f32[9, 2, 3]"}, {0}},
    {"ConcatV2D", 1, 1, {"2 * u64[2, 3]", "u64[2, 6]"}, {"concat_dim=-1"}},
    {"ConcatV2", 2, 1, {"2 * u64[2, 3]", "i32[1]", "u64[2, 6]"}, {0}},
    {"Pack", 1, 1, {"2 * u64[2, 3]", "u64[2, 3, 2]"}, {"axis=-1"}},
    {"SplitD", 1, 2, {"u64[2, 6]", "u64[2, 3]", "u64[2, 3]"}, {"split_dim=-1", "num_split=2"}},
    {"SplitVD", 1, 1, {"u64[2, 6]", "u64[2, 6]"}, {"split_dim=0"}},
    {"SplitV", 3, 2, {"u64[4, 2]", "i32[2]", "i64[]", "u64[3, 2]", "u64[1, 2]"}, {0}},
    {"HcomAllReduce", 1, 1, {"bf16[4]", "bf16[4]"}, {"fusion=1"}},
    {"HcomAllGather", 1, 1, {"bf16[4]", "bf16[4]"}, {"rank_size=1"}},
    {"HcomReduceScatter", 1, 1, {"bf16[4]", "bf16[4]"}, {0}},
    {"HcomAllToAll", 1, 1, {"bf16[4]", "bf16[4]"}, {0}},
    {QBMM, {"i8[2, 3]", "i8[3, 4]", "f32[4]", "none", "i32[4]", "none", "f16[2, 4]"}, {0}},
    {"AddN", 1, 1, {"2 * i32[2, 3]", "i32[2, 3]"}, {"N=2"}},
    {"ConcatD", 1, 1, {"2 * u64[2, 3]", "u64[2, 6]"}, {"concat_dim=-1"}},
    {"ConcatD", 1, 1, {"2 * bool[2, 3]", "bool[4, 3]"}, {0}},
    {FIA,
     {"f16[2, 4, 8]", "2 * f16[1, 5, 4]", "2 * f16[1, 5, 4]", "none", "bool[4, 5]", NONES_26,
      "f16[2, 4, 8]", "f32[2, 2, 4, 1]"},
     {"num_heads=2", "num_key_value_heads=1", "scale=0.5"}},
    {FIA,
     {"bf16[2, 2, 4, 8]", "2 * bf16[1, 2, 5, 8]", "2 * bf16[1, 2, 5, 8]", "none", "i8[2, 1, 4, 5]",
      NONES_26, "bf16[2, 2, 4, 8]", "f32[2, 2, 4, 1]"},
     {"num_heads=2"}},
    {"Add", 2, 1, {"f32[2, 3]", "f32[3]", "f32[2, 3]"}, {0}},
    {"Add", 2, 1, {"i64[]", "i64[]", "i64[]"}, {0}},
    {"Add", 2, 1, {"i8[0, 1]", "i8[1, 4]", "i8[0, 4]"}, {0}},
    {"Mul", 2, 1, {"bf16[1, 3]", "bf16[2, 1]", "bf16[2, 3]"}, {0}},
    {"Mul", 2, 1, {"i32[3]", "i32[2, 1, 3]", "i32[2, 1, 3]"}, {0}},
    {"Pows", 2, 1, {"f16[2]", "f16[]", "f16[2]"}, {0}},
    {"Cast", 1, 1, {"bool[2, 3]", "u8[2, 3]"}, {0}},
    {"Cast", 1, 1, {"i16[]", "f16[]"}, {0}},
    {"IsInf", 1, 1, {"f32[2]", "bool[2]"}, {0}},
    {"IsFinite", 1, 1, {"bf16[2]", "bool[2]"}, {0}},
    {"MatMul", 2, 1, {"f16[2, 3]", "f16[3, 4]", "f16[2, 4]"}, {0}},
    {"MatMul", 2, 1, {"f16[3, 2]", "f16[4, 3]", "f32[2, 4]"}, {"transpose_x1=1", "transpose_x2=1"}},
    {"MatMul", 2, 1, {"f32[5, 2, 3]", "f32[5, 3, 4]", "f32[5, 2, 4]"}, {"transpose_x1=0"}},
    {"MatMul", 2, 1, {"bf16[2, 3]:NZ", "bf16[4, 3]:NZ", "bf16[2, 4]"}, {"transpose_x2=1"}},
    {QBMM, {"i8[2, 3]", "i8[3, 4]:NZ", "f32[4]", NONES_2, "f32[2]", "bf16[2, 4]"}, {0}},
    {QBMM, {"i8[2, 3]", "i8[3, 4]", "f32[4]", NONES_2, "f32[2]", "f16[2, 4]"}, {0}},
    {DSQ, {"bf16[2, 6]", "f32[6]", NONES_5, "i8[2, 3]", "f32[2]"}, {0}},
    {DSQ, {"i32[2, 6]", "f32[6]", NONES_5, "i8[2, 3]", "f32[2]"}, {"activate_left=0"}},
    {"RmsNorm", 2, 2, {"f16[2, 3]", "f16[3]", "f16[2, 3]", "f32[2, 1]"}, {"epsilon=0.001"}},
    {"RmsNorm", 2, 2, {"bf16[3]", "f32[3]", "bf16[3]", "f32[1]"}, {0}},
    {"Softmax", 1, 1, {"f32[2, 3]", "f32[2, 3]"}, {0}},
    {"MatMulV2", 4, 1, {"f16[2, 3]", "f16[3, 4]", "f32[4]", "none", "f32[2, 4]"}, {0}},
    {"MatMulV2", 4, 1, {"f16[2, 3]:NZ", "f16[3, 4]", "none", "none", "f16[2, 4]"}, {0}},
    {"GroupedMatmul",
     9,
     1,
     {"2 * f16[3, 3]", "2 * f16[3, 3]", EMPTY_4, "0 *", "none", "none", "f16[6, 3]"},
     {"split_item=2"}},
    {"GroupedMatmul",
     9,
     1,
     {"2 * f16[3, 3]", "2 * f16[3, 3]", EMPTY_4, "0 *", "none", "none", "f32[6, 3]"},
     {"split_item=3", "group_type=-1", "transpose_weight=1"}},
    {"GroupedMatmul",
     9,
     2,
     {"2 * f16[3, 3]", "2 * f16[3, 3]", EMPTY_4, "0 *", NONES_2, "f16[3, 3]", "f16[3, 3]"},
     {0}},
    {"BatchMatMul", 2, 1, {"f16[5, 1, 2, 3]", "f16[6, 4, 3]", "f16[5, 6, 2, 4]"}, {"adj_x2=1"}},
    {"BatchMatMulV2", 4, 1, {"f32[2, 3]", "f32[6, 3, 4]", "f32[4]", "none", "f32[6, 2, 4]"}, {0}},
    {"RmsNorm", 2, 2, {"f32[2, 3]", "f32[2, 3]", "f32[2, 3]", "f32[1, 1]"}, {0}},
    {"AddRmsNorm",
     3,
     3,
     {"f16[2, 3]", "f16[2, 3]", "f16[3]", "f16[2, 3]", "f32[2, 1]", "f16[2, 3]"},
     {"epsilon=0.001"}},
    {"LayerNorm",
     3,
     3,
     {"f16[2, 3]", "f32[3]", "f32[3]", "f16[2, 3]", "f32[2, 1]", "f32[2, 1]"},
     {"begin_norm_axis=1", "begin_params_axis=-1"}},
    {"RotaryMul", 3, 1, {"f16[2, 3, 4]", "f16[1, 3, 4]", "f16[1, 3, 4]", "f16[2, 3, 4]"}, {0}},
    {"RotaryPositionEmbedding", 3, 1, {"f32[2, 4]", "f32[4]", "f32[4]", "f32[2, 4]"}, {"mode=1"}},
    {"ScaledMaskedSoftmax", 2, 1, {"f32[2, 4]", "none", "f32[2, 4]"}, {"fixed_triu_mask=1"}},
    {"ScaledMaskedSoftmax", 2, 1, {"f32[2, 4]", "bool[1, 4]", "f32[2, 4]"}, {"scale=-0.5"}},
    {FAS,
     {"f16[2, 6, 4, 8]", "f16[2, 3, 5, 8]", "f16[2, 3, 5, 8]", NONES_3, "u8[4, 5]", NONES_5,
      "f32[2, 6, 4, 8]", "f32[2, 6, 4, 8]", "f16[0]", "f16[2, 6, 4, 8]"},
     {"head_num=6", "input_layout='BNSD"}},
    {FAS,
     {"f32[4, 2, 48]", "f32[5, 2, 24]", "f32[5, 2, 24]", NONES_3, "none", NONES_5,
      "f32[2, 6, 4, 8]", "f32[2, 6, 4, 8]", "f32[0]", "f32[4, 2, 48]"},
     {"head_num=6", "input_layout='SBH", "keep_prob=1", "pre_tockens=4"}},
    {"MoeGatingTopKSoftmax",
     2,
     3,
     {"f16[2, 3, 8]", "bool[2, 3]", "f16[2, 3, 2]", "i32[2, 3, 2]", "i32[2, 3, 2]"},
     {"k=2"}},
    {"SwiGlu", 1, 1, {"f16[4, 3]", "f16[2, 3]"}, {"dim=0"}},
    {"AscendQuant",
     1,
     1,
     {"f16[4, 3]", "i8[4, 3]"},
     {"scale=-0.5", "offset=1", "round_mode='Ceil"}},
    {"AscendQuantV2", 3, 1, {"f16[4, 3]", "f16[4]", "none", "i8[4, 3]"}, {"axis=0", "dst_type=2"}},
    {"AscendDequant", 2, 1, {"i32[4, 3]", "u64[3]", "bf16[4, 3]"}, {"relu_flag=1"}},
    {"DynamicQuant", 3, 2, {"f16[4, 3]", "f16[3]", "none", "i8[4, 3]", "f32[4]"}, {0}},
    {"SoftmaxV2", 1, 1, {"f16[2, 3]", "f32[2, 3]"}, {"axes=[1, 0]", "half_to_float=1"}},
    {"LogSoftmaxV2", 1, 1, {"bf16[2, 3]", "bf16[2, 3]"}, {0}},
    {"ReduceSum", 2, 1, {"i8[2, 3]", "i32[1]", "i8[3]"}, {0}},
    {"ReduceSumD", 1, 1, {"i64[2, 3]", "i64[1, 1]"}, {"axes=[1, 0]", "keep_dims=1"}},
    {"ReduceMean", 2, 1, {"f32[2, 3]", "i64[2]", "f32[1, 1]"}, {"keep_dims=1"}},
    {"ReduceMeanD", 1, 1, {"f32[2, 3]", "f32[2, 3]"}, {"axes=[]"}},
    {"ReduceMax", 2, 1, {"u8[2, 3]", "i32[]", "u8[2]"}, {"noop_with_empty_axes=0"}},
    {"ReduceMaxD", 1, 1, {"i16[2, 3]", "i16[]"}, {"axes=[1, 0]"}},
    {"ReduceMin", 2, 1, {"f16[2, 3]", "i32[1]", "f16[3]"}, {0}},
    {"ReduceMinD", 1, 1, {"f16[2, 3]", "f16[]"}, {"axes=[1, 0]"}},
    {"ReduceProd", 2, 1, {"f16[2, 3]", "i32[1]", "f16[3]"}, {0}},
    {"ReduceProdD", 1, 1, {"f16[2, 3]", "f16[]"}, {"axes=[1, 0]"}},
    {"ArgMax", 2, 1, {"f16[2, 3]", "i32[1]", "i64[3]"}, {0}},
    {"ArgMaxV2", 2, 1, {"f16[2, 3]", "i32[1]", "i64[3]"}, {"dtype=9"}},
    {"ArgMaxD", 1, 1, {"i32[2, 3]", "i32[2]"}, {"dimension=-1"}},
    {"Cumsum", 2, 1, {"f16[2, 3]", "i32[]", "f16[2, 3]"}, {"reverse=1"}},
    {"CumsumD", 1, 1, {"i8[2, 3]", "i8[2, 3]"}, {"axis=-1", "exclusive=1"}},
    {"TopK", 2, 2, {"f16[2, 5]", "i32[]", "f16[2, 3]", "i32[2, 3]"}, {"largest=0"}},
    {"TopKV2", 2, 2, {"i32[5, 2]", "i64[1]", "i32[3, 2]", "i64[3, 2]"}, {"dim=0"}},
    {"ScatterUpdate", 3, 1, {"f16[8, 3]", "i64[2]", "f16[2, 3]", "f16[8, 3]"}, {0}},
    {"ScatterUpdate", 3, 1, {"u64[8, 3]", "i32[5]", "u64[8, 5]", "u64[8, 3]"}, {"axis=-1"}},
    {"ScatterUpdate", 3, 1, {"bool[4]", "i32[0]", "bool[0]", "bool[4]"}, {"axis=0"}},
    {"Assign", 2, 0, {"f64[2, 3]", "f64[2, 3]"}, {0}},
};

static void test_accepted(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof accepted / sizeof accepted[0]; i++) {
        struct sample_op_error error;
        if (!op_check(&accepted[i], &error))
            fail_msg("%s (case %zu): %s", accepted[i].type, i, error.text);
    }
}

/* Families whose ops take the same: a case for all of them. */
static const struct family {
    struct op_text op;
    const char *types[34];
} families[] = {
    {{"", 2, 1, {"i32[2, 1]", "i32[3]", "i32[2, 3]"}, {0}},
     {"Add", "Sub", "Mul", "Div", "FloorDiv", "FloorMod", "Mod", "Maximum", "Minimum", "Pow",
      "SquaredDifference"}},
    {{"", 2, 1, {"bf16[2, 1]", "bf16[3]", "bf16[2, 3]"}, {0}},
     {"Add", "Sub", "Mul", "Div", "RealDiv", "FloorDiv", "FloorMod", "Mod", "Maximum", "Minimum",
      "Pow", "Pows", "SquaredDifference"}},
    {{"", 2, 1, {"u8[2, 1]", "u8[3]", "bool[2, 3]"}, {0}},
     {"Equal", "NotEqual", "Greater", "GreaterEqual", "Less", "LessEqual"}},
    {{"", 2, 1, {"bool[2, 1]", "bool[3]", "bool[2, 3]"}, {0}},
     {"Equal", "NotEqual", "LogicalAnd", "LogicalOr"}},
    {{"", 1, 1, {"i8[2, 3]", "i8[2, 3]"}, {0}}, {"Neg", "Abs", "Square", "Relu", "Sign"}},
    {{"", 1, 1, {"i8[2, 3]", "i8[2, 3]"}, {"value=-2"}}, {"Adds", "Muls"}},
    {{"", 1, 1, {"f16[2, 3]", "f16[2, 3]"}, {0}},
     {"Neg",    "Abs",   "Square", "Relu",  "Sign",     "Exp",        "Expm1",
      "Log",    "Log1p", "Sqrt",   "Rsqrt", "Sin",      "Reciprocal", "Cos",
      "Tanh",   "Erf",   "Floor",  "Ceil",  "Round",    "Gelu",       "Sigmoid",
      "GeluV2", "Swish", "Silu",   "Cast",  "FastGelu", "Softplus",   "LeakyRelu"}},
    {{"", 1, 1, {"f16[2, 3]", "bool[2, 3]"}, {0}}, {"IsInf", "IsFinite", "IsNan"}},
    {{"", 1, 1, {"bool[2, 3]", "bool[2, 3]"}, {0}}, {"LogicalNot"}},
    {{"", 3, 1, {"bool[2, 1]", "u16[3]", "u16[1]", "u16[2, 3]"}, {0}}, {"SelectV2", "Where"}},
    {{"", 3, 1, {"bool[2, 1]", "u16[3]", "u16[2, 3]", "u16[2, 3]"}, {0}}, {"Select"}},
    {{"", 3, 1, {"f16[2, 1]", "f16[]", "f16[3]", "f16[2, 3]"}, {0}}, {"ClipByValue", "Clip"}},
    {{"", 2, 0, {"f16[2, 3]", "f16[2, 3]"}, {0}}, {"Assign", "AssignAdd", "AssignSub"}},
};

static void test_families(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        for (const char *const *type = families[i].types; *type != NULL; type++) {
            struct op_text op = families[i].op;
            struct sample_op_error error;
            op.type = *type;
            if (!op_check(&op, &error))
                fail_msg("%s is refused: %s", *type, error.text);
            op.tensors[op.n_operands - 1] = "u32[7]";
            assert_false(op_check(&op, &error));
        }
}

static bool is_accepted(const char *op_type)
{
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        for (const char *const *type = families[i].types; *type != NULL; type++)
            if (strcmp(*type, op_type) == 0)
                return true;
    for (size_t i = 0; i < sizeof accepted / sizeof accepted[0]; i++)
        if (strcmp(accepted[i].type, op_type) == 0)
            return true;
    return false;
}

static void test_all_accepted(void **state)
{
    (void)state;
    for (unsigned i = 0; sample_op_name(i) != NULL; i++)
        if (!is_accepted(sample_op_name(i)))
            fail_msg("no case has %s", sample_op_name(i));
}

struct refusal {
    struct op_text op;
    const char *id;
    int tensor, attribute;
    const char *text;
};

/* clang-format off */
static const struct refusal refusals[] = {
    {{"HcomAllGather", 1, 1, {"f16[2]", "f16[8]"}, {"rank_size=4"}}, "attribute", -1, 0,
     "the sample kernel is for one rank, but \"rank_size\" is 4"},
    {{"AllGather", 1, 1, {"f16[2]", "f16[8]"}, {0}}, "result-shape", 1, -1,
     "result 'y' must have the shape [2], but has [8]"},
    {{"SplitD", 1, 2, {"f16[6]", "f16[3]", "f16[3]"}, {"split_dim=1", "num_split=2"}},
     "operand-shape", 0, -1,
     "SplitD has no dimension 1 of 1, of which 'x[split_dim] % num_split == 0' speaks"},
    {{"SplitVD", 1, 2, {"f16[6]", "f16[2]", "f16[3]"}, {"split_dim=0"}}, "result-shape", 1, -1,
     "the results are not operand 'x' in parts along \"split_dim\""},
    {{"SplitV", 3, 2, {"f16[6]", "i32[2]", "i32[]", "f16[2]", "f16[3]"}, {0}},
     "result-shape", 3, -1, "the results are not operand 'x' in parts along any dimension"},
    {{"SplitVD", 1, 2, {"f16[6]", "f16[3]", "f32[3]"}, {0}}, "result-dtype", 2, -1,
     "result 1 must be f16 like operand 'x', but is f32"},
    {{"ConcatV2", 2, 1, {"2 * f16[2]", "i32[]", "f16[5]"}, {0}}, "result-shape", 2, -1,
     "the tensors of operand 'x' are not result 'y' in parts along any dimension"},
    {{"Transpose", 2, 1, {"i4[2, 3]", "i32[2]", "i4[3, 2]"}, {0}}, "operand-dtype", 0, -1,
     "operand 'x' must be f32, f16, bf16, f64, i8, i16, i32, i64, u8, u16, u32, u64 or bool, "
     "but is i4"},
    {{"Select", 3, 1, {"bool[4]", "f32[2, 3]", "f32[3]", "f32[2, 3]"}, {0}}, "operand-shape", 0, -1,
     "operand 'condition' [4] cannot be broadcast to the result [2, 3]"},
    {{"RealDiv", 2, 1, {"f16[3]", "f16[3]", "f32[3]"}, {0}}, "result-dtype", 2, -1,
     "result 'y' must be f16 like operand 'x1', but is f32"},
    {{"Muls", 1, 1, {"f16[3]", "f16[3]"}, {"value=inf"}}, "attribute", -1, 0,
     "attribute \"value\" of Muls must be a finite number"},
    {{"Silu", 1, 1, {"f16[3]", "f16[3]"}, {"slope=1"}}, "attribute", -1, 0,
     "attribute \"slope\" of Silu is unknown"},
    {{QBMM, {"i8[2, 3]", "i8[3, 4]", "f32[4]", "f32[2]", NONES_2, "f16[2, 4]"}, {0}},
     "operand-form", 3, -1, "the sample kernel has no operand 'offset': it must be 'none'"},
    {{QBMM, {"i8[2, 3]", "i8[3, 4]", NONES_2, NONES_2, "f16[2, 4]"}, {0}},
     "operand-form", 2, -1, "operand 'scale' must be there"},
    {{"AddN", 1, 1, {"f32[2]", "f32[2]"}, {0}}, "operand-form", 0, -1,
     "operand 'x' must be a list: '[...]'"},
    {{"AddN", 1, 1, {"0 *", "f32[2]"}, {0}}, "operand-form", 0, -1, "operand 'x' is an empty "
     "list"},
    {{"Softmax", 1, 1, {"2 * f32[2]", "f32[2]"}, {0}}, "operand-form", 0, -1,
     "operand 'x' must be no list"},
    {{"AddN", 1, 1, {"2 * u8[2]", "u8[2]"}, {0}}, "operand-dtype", 0, -1,
     "operand 'x' must be f32, f16, bf16, i8, i32 or i64, but is u8"},
    {{"AddN", 1, 1, {"2 * f32[2]", "f32[3]"}, {0}}, "result-shape", 1, -1,
     "result 'y' of AddN is [3], but by 'y = s' it is [2]"},
    {{"ConcatD", 1, 1, {"2 * f32[2]", "f32[4]"}, {"concat_dim=1"}}, "operand-shape", 0, -1,
     "ConcatD has no dimension 1 of 1, of which 'y = concat(x, concat_dim)' speaks"},
    {{"ConcatD", 1, 1, {"2 * f32[2]", "f32[3]"}, {0}}, "result-shape", 1, -1,
     "result 'y' of ConcatD is [3], but by 'y = concat(x, concat_dim)' it is [4]"},
    {{FIA,
      {"f16[2, 4, 8]", "2 * f16[1, 5, 8]", "2 * f16[1, 5, 8]", "none", "bool[5, 4]", NONES_26,
       "f16[2, 4, 8]", "f32[2, 2, 4, 1]"},
      {"num_heads=2"}},
     "operand-shape", 4, -1, "operand 'atten_mask' must have the shape [4, 5], but has [5, 4]"},
    {{FIA,
      {"f16[3, 4, 8]", "2 * f16[1, 5, 8]", "2 * f16[1, 5, 8]", NONES_2, NONES_26,
       "f16[3, 4, 8]", "f32[3, 2, 4, 1]"},
      {"num_heads=2"}},
     "operand-shape", 1, -1,
     "operand 'key' must have one tensor, or one for each of 3 batches, but has 2"},
    {{FIA,
      {"f16[2, 4, 8]", "2 * f16[1, 5, 8]", "2 * f16[1, 5, 8]", NONES_2, NONES_26,
       "f16[2, 4, 8]", "f32[2, 2, 4, 1]"},
      {0}},
     "operand-shape", 0, -1,
     "operand 'query' does not have \"num_heads\" (0) heads, in groups of "
     "\"num_key_value_heads\" (0)"},
    {{"Ad", 2, 1, {"f32[2]", "f32[2]", "f32[2]"}, {0}}, "op-type", -1, -1,
     "there is no sample kernel for \"Ad\""},
    {{"Add", 1, 1, {"f32[2]", "f32[2]"}, {0}}, "operand-count", -1, -1,
     "Add takes 2 operands, but has 1"},
    {{"Softmax", 2, 1, {"f32[2]", "f32[2]", "f32[2]"}, {0}}, "operand-count", -1, -1,
     "Softmax takes 1 operand, but has 2"},
    {{"RmsNorm", 2, 1, {"f32[3]", "f32[3]", "f32[3]"}, {0}}, "result-count", -1, -1,
     "RmsNorm takes 2 results, but has 1"},

    {{"Add", 2, 1, {"f64[2]", "f64[2]", "f64[2]"}, {0}}, "operand-dtype", 0, -1,
     "operand 'x1' must be f32, f16, bf16, i8, i32 or i64, but is f64"},
    {{"Add", 2, 1, {"f16[2]", "f32[2]", "f16[2]"}, {0}}, "operand-dtype", 1, -1,
     "operand 'x2' must be f16 like operand 'x1', but is f32"},
    {{"Mul", 2, 1, {"f16[2]", "f16[2]", "f32[2]"}, {0}}, "result-dtype", 2, -1,
     "result 'y' must be f16 like operand 'x1', but is f32"},
    {{"Pows", 2, 1, {"i32[2]", "i32[2]", "i32[2]"}, {0}}, "operand-dtype", 0, -1,
     "operand 'x1' must be f32, f16 or bf16, but is i32"},
    {{"Cast", 1, 1, {"f64[2]", "f32[2]"}, {0}}, "operand-dtype", 0, -1,
     "operand 'x' must be f32, f16, bf16, i8, i16, i32, i64, u8 or bool, but is f64"},
    {{"Cast", 1, 1, {"f32[2]", "u4[2]"}, {0}}, "result-dtype", 1, -1,
     "result 'y' must be f32, f16, bf16, i8, i16, i32, i64, u8 or bool, but is an unknown dtype"},
    {{"IsInf", 1, 1, {"f32[2]", "u8[2]"}, {0}}, "result-dtype", 1, -1,
     "result 'y' must be bool, but is u8"},
    {{"IsFinite", 1, 1, {"i32[2]", "bool[2]"}, {0}}, "operand-dtype", 0, -1,
     "operand 'x' must be f32, f16 or bf16, but is i32"},
    {{"MatMul", 2, 1, {"f16[2, 3]", "bf16[3, 4]", "f16[2, 4]"}, {0}}, "operand-dtype", 1, -1,
     "operand 'x2' must be f16 like operand 'x1', but is bf16"},
    {{"MatMul", 2, 1, {"f16[2, 3]", "f16[3, 4]", "bf16[2, 4]"}, {0}}, "result-dtype", 2, -1,
     "result 'y' must be f32 or f16, but is bf16"},
    {{QBMM, {"u8[2, 3]", "i8[3, 4]", "f32[4]", NONES_2, "f32[2]", "f16[2, 4]"}, {0}},
     "operand-dtype", 0, -1, "operand 'x1' must be i8, but is u8"},
    {{QBMM, {"i8[2, 3]", "i8[3, 4]", "f32[4]", NONES_2, "f16[2]", "f16[2, 4]"}, {0}},
     "operand-dtype", 5, -1, "operand 'pertoken_scale' must be f32, but is f16"},
    {{QBMM, {"i8[2, 3]", "i8[3, 4]", "f32[4]", NONES_2, "f32[2]", "f32[2, 4]"}, {0}},
     "result-dtype", 6, -1, "result 'y' must be f16 or bf16, but is f32"},
    {{DSQ, {"i8[2, 6]", "f32[6]", NONES_5, "i8[2, 3]", "f32[2]"}, {0}},
     "operand-dtype", 0, -1, "operand 'x' must be f32, f16, bf16 or i32, but is i8"},
    {{DSQ, {"f16[2, 6]", "f32[6]", NONES_5, "i8[2, 3]", "f16[2]"}, {0}},
     "result-dtype", 8, -1, "result 'scale' must be f32, but is f16"},
    {{"RmsNorm", 2, 2, {"f16[2, 3]", "bf16[3]", "f16[2, 3]", "f32[2, 1]"}, {0}},
     "operand-dtype", 1, -1, "operand 'gamma' must be f32 or f16, but is bf16"},
    {{"Softmax", 1, 1, {"f16[2]", "f32[2]"}, {0}}, "result-dtype", 1, -1,
     "result 'y' must be f16 like operand 'x', but is f32"},

    {{"Add", 2, 1, {"f32[2, 2]:NZ", "f32[2, 2]", "f32[2, 2]"}, {0}}, "operand-format", 0, -1,
     "operand 'x1' must have the format ND"},
    {{"Cast", 1, 1, {"f32[2, 2]", "f16[2, 2]:NZ"}, {0}}, "result-format", 1, -1,
     "result 'y' must have the format ND"},
    {{"MatMul", 2, 1, {"f16[2, 3]", "f16[3, 4]:XY", "f16[2, 4]"}, {0}}, "operand-format", 1, -1,
     "operand 'x2' must have the format ND or FRACTAL_NZ"},
    {{"MatMul", 2, 1, {"f16[1, 2, 3]:NZ", "f16[1, 3, 4]", "f16[1, 2, 4]"}, {0}},
     "operand-format", 0, -1,
     "operand 'x1' has the format FRACTAL_NZ, which takes 2 dimensions, but has 3"},
    {{QBMM, {"i8[2, 3]:NZ", "i8[3, 4]", "f32[4]", NONES_2, "f32[2]", "f16[2, 4]"},
      {0}},
     "operand-format", 0, -1, "operand 'x1' must have the format ND"},

    {{"Add", 2, 1, {"f32[-1]", "f32[2]", "f32[2]"}, {0}}, "operand-shape", 0, -1,
     "dimension 0 of operand 'x1' is -1"},
    {{"Cast", 1, 1, {"f32[2]", "f32[1, 1, 1, 1, 1, 1, 1, 1, 2]"}, {0}}, "result-shape", 1, -1,
     "result 'y' has 9 dimensions, but 8 is the most"},
    {{"Softmax", 1, 1, {"f32[0, 4294967296, 4294967296]", "f32[2]"}, {0}}, "operand-shape", 0, -1,
     "operand 'x' is too large"},
    {{"Add", 2, 1, {"f32[2, 3]", "f32[2]", "f32[2, 3]"}, {0}}, "operand-shape", 1, -1,
     "Add cannot broadcast [2, 3] and [2] to one shape"},
    {{"Mul", 2, 1, {"f32[0]", "f32[2]", "f32[0]"}, {0}}, "operand-shape", 1, -1,
     "Mul cannot broadcast [0] and [2] to one shape"},
    {{"Pows", 2, 1, {"f32[2, 1]", "f32[3]", "f32[2, 1]"}, {0}}, "result-shape", 2, -1,
     "result 'y' of Pows is [2, 1], but by 'y = broadcast(x1, x2)' it is [2, 3]"},
    {{"Cast", 1, 1, {"f32[2, 3]", "f16[6]"}, {0}}, "result-shape", 1, -1,
     "result 'y' of Cast is [6], but by 'y = x' it is [2, 3]"},
    {{"IsInf", 1, 1, {"f32[]", "bool[1]"}, {0}}, "result-shape", 1, -1,
     "result 'y' of IsInf is [1], but by 'y = x' it is []"},
    {{"Softmax", 1, 1, {"f32[]", "f32[]"}, {0}}, "operand-shape", 0, -1,
     "Softmax has 'rank(x) >= 1', which does not hold for 0 and 1"},
    {{"Softmax", 1, 1, {"f32[2, 3]", "f32[2, 4]"}, {0}}, "result-shape", 1, -1,
     "result 'y' of Softmax is [2, 4], but by 'y = x' it is [2, 3]"},

    {{"MatMul", 2, 1, {"f16[3]", "f16[3]", "f16[1]"}, {0}}, "operand-shape", 0, -1,
     "operand 'x1' [3] of MatMul does not fit 'x1 = transpose_x1 ? [..b, k, m] : [..b, m, "
     "k]'"},
    {{"MatMul", 2, 1, {"f16[1, 2, 3]", "f16[3, 4]", "f16[1, 2, 4]"}, {0}}, "operand-shape", 1, -1,
     "operand 'x2' [3, 4] of MatMul does not fit 'x2 = transpose_x2 ? [..b, n, k] : [..b, "
     "k, n]', where b = [1]"},
    {{"MatMul", 2, 1, {"f16[2, 64]", "f16[128, 4]", "f16[2, 4]"}, {0}}, "operand-shape", 1, -1,
     "operand 'x2' [128, 4] of MatMul has k = 128, but 'x1' [2, 64] has k = 64"},
    {{"MatMul", 2, 1, {"f16[2, 3]", "f16[2, 4]", "f16[3, 5]"}, {"transpose_x1=1"}},
     "result-shape", 2, -1,
     "result 'y' of MatMul is [3, 5], but by 'y = [..b, m, n]' it is [3, 4]"},
    {{"MatMul", 2, 1, {"f16[2, 3]", "f16[3, 4]", "f16[2, 3]"}, {"transpose_x2=1"}},
     "operand-shape", 1, -1,
     "operand 'x2' [3, 4] of MatMul has k = 4, but 'x1' [2, 3] has k = 3"},
    {{"MatMul", 2, 1, {"f16[2, 3]", "f16[3, 4]", "f16[3, 4]"}, {"transpose_x1=1"}},
     "operand-shape", 1, -1, "operand 'x2' [3, 4] of MatMul has k = 3, but 'x1' [2, 3] has k = 2"},
    {{"MatMul", 2, 1, {"f16[5, 2, 3]", "f16[6, 3, 4]", "f16[5, 2, 4]"}, {0}},
     "operand-shape", 1, -1,
     "operand 'x2' [6, 3, 4] of MatMul has b = [6], but 'x1' [5, 2, 3] has b = [5]"},
    {{"MatMul", 2, 1, {"f16[5, 2, 3]", "f16[5, 3, 4]", "f16[6, 2, 4]"}, {0}},
     "result-shape", 2, -1,
     "result 'y' of MatMul is [6, 2, 4], but by 'y = [..b, m, n]' it is [5, 2, 4]"},

    {{QBMM, {"i8[1, 2, 3]", "i8[3, 4]", "f32[4]", NONES_2, "f32[2]", "f16[2, 4]"},
      {0}},
     "operand-shape", 0, -1, "operand 'x1' must have 2 dimensions, but has 3"},
    {{QBMM, {"i8[2, 3]", "i8[3, 4]", "f32[1, 4]", NONES_2, "f32[2]", "f16[2, 4]"},
      {0}},
     "operand-shape", 2, -1, "operand 'scale' must have 1 dimension, but has 2"},
    {{QBMM, {"i8[2, 3]", "i8[5, 4]", "f32[4]", NONES_2, "f32[2]", "f16[2, 4]"}, {0}},
     "operand-shape", 1, -1,
     "operand 'x2' [5, 4] of QuantBatchMatmulV3 has k = 5, but 'x1' [2, 3] has k = 3"},
    {{QBMM, {"i8[2, 3]", "i8[3, 4]", "f32[5]", NONES_2, "f32[2]", "f16[2, 4]"}, {0}},
     "operand-shape", 2, -1,
     "operand 'scale' [5] of QuantBatchMatmulV3 has n = 5, but 'x2' [3, 4] has n = 4"},
    {{QBMM, {"i8[2, 3]", "i8[3, 4]", "f32[4]", NONES_2, "f32[1]", "f16[2, 4]"}, {0}},
     "operand-shape", 5, -1, "operand 'pertoken_scale' must have an element for each of 2 "
     "rows, but has 1"},
    {{QBMM, {"i8[2, 3]", "i8[3, 4]", "f32[4]", NONES_2, "f32[2]", "f16[4, 2]"}, {0}},
     "result-shape", 6, -1,
     "result 'y' of QuantBatchMatmulV3 is [4, 2], but by 'y = [..broadcast(b1, b2), m, "
     "n]' it is [2, 4]"},

    {{DSQ, {"f16[6]", "f32[6]", NONES_5, "i8[3]", "f32[1]"}, {0}},
     "operand-shape", 0, -1, "operand 'x' must have 2 dimensions, but has 1"},
    {{DSQ, {"f16[2, 6]", "f32[1, 6]", NONES_5, "i8[2, 3]", "f32[2]"}, {0}},
     "operand-shape", 1, -1, "operand 'weight_scale' must have 1 dimension, but has 2"},
    {{DSQ, {"f16[2, 7]", "f32[7]", NONES_5, "i8[2, 3]", "f32[2]"}, {0}},
     "operand-shape", 0, -1,
     "DequantSwigluQuant has 'n % 2 == 0', but 'n' is 7"},
    {{DSQ, {"f16[2, 6]", "f32[3]", NONES_5, "i8[2, 3]", "f32[2]"}, {0}},
     "operand-shape", 1, -1,
     "operand 'weight_scale' [3] of DequantSwigluQuant has n = 3, but 'x' [2, 6] has n = 6"},
    {{DSQ, {"f16[2, 6]", "f32[6]", NONES_5, "i8[2, 6]", "f32[2]"}, {0}},
     "result-shape", 7, -1,
     "result 'y' of DequantSwigluQuant is [2, 6], but by 'y = [..rows, n / 2]' it is [2, "
     "3]"},
    {{DSQ, {"f16[2, 6]", "f32[6]", NONES_5, "i8[2, 3]", "f32[2, 1]"}, {0}},
     "result-shape", 8, -1,
     "result 'scale' of DequantSwigluQuant is [2, 1], but by 'scale = rows' it is [2]"},

    {{"RmsNorm", 2, 2, {"f32[]", "f32[1]", "f32[]", "f32[]"}, {0}}, "operand-shape", 0, -1,
     "operand 'x' [] of RmsNorm does not fit 'x = [..rows, ..gamma]'"},
    {{"RmsNorm", 2, 2, {"f32[2, 3]", "f32[]", "f32[2, 3]", "f32[2, 3]"}, {0}},
     "operand-shape", 1, -1,
     "RmsNorm has 'rank(gamma) >= 1', which does not hold for 0 and 1"},
    {{"MatMulV2", 4, 1, {"f16[2, 3]", "f16[3, 4]", "f32[4, 4]", "none", "f32[2, 4]"}, {0}},
     "operand-shape", 2, -1,
     "operand 'bias' must have 4 elements, one for each column, but has 16"},
    {{"MatMulV2", 4, 1, {"f16[2, 3]", "f16[3, 4]", "none", "i8[4]", "f32[2, 4]"}, {0}},
     "operand-form", 3, -1, "the sample kernel has no operand 'offset_w': it must be 'none'"},
    {{GMM,
      {"2 * f16[3, 3]", "2 * f16[3, 3]", EMPTY_4, "0 *", "none", "none", "f16[6, 3]"},
      {0}}, "attribute", -1, -1,
     "with one result for all groups, \"split_item\" must be 2 or 3"},
    {{GMM,
      {"2 * f16[3, 3]", "2 * f16[3, 3]", EMPTY_4, "0 *", "none", "none", "f16[6, 3]"},
      {"split_item=2", "group_type=2"}}, "attribute", -1, 1,
     "the sample kernel has groups of rows: \"group_type\" must be 0 or -1"},
    {{GMM,
      {"2 * f16[3, 3]", "2 * f16[3, 3]", EMPTY_4, "0 *", "none", "none", "f16[6, 3]"},
      {"split_item=2", "group_list_type=2"}}, "attribute", -1, 1,
     "\"group_list_type\" must be 0 or 1"},
    {{GMM,
      {"2 * f16[3, 3]", "2 * f16[3, 3]", EMPTY_4, "0 *", "none", "none", "f16[6, 3]"},
      {"split_item=2", "transpose_x=1"}}, "attribute", -1, 1,
     "the sample kernel has \"transpose_x\" = 0 only"},
    {{GMM,
      {"2 * f16[3, 3]", "2 * f16[3, 3]", EMPTY_4, "0 *", "none", "none", "f16[5, 3]"},
      {"split_item=2"}}, "result-shape", 9, -1,
     "result 0 must have 6 rows, but has 5"},
    {{"GroupedMatmul", 9, 2, {"2 * f16[3, 3]", "2 * f16[3, 3]", EMPTY_4, "0 *", NONES_2,
                             "f16[3, 3]", "f16[4, 3]"}, {0}},
     "result-shape", 10, -1, "result 1 must have 3 rows, but has 4"},
    {{"GroupedMatmul", 9, 3, {"2 * f16[3, 3]", "2 * f16[3, 3]", EMPTY_4, "0 *", NONES_2,
                             "f16[3, 3]", "f16[3, 3]", "f16[3, 3]"}, {0}},
     "result-count", -1, -1, "there must be one result, or one for each of 2 groups"},
    {{"GroupedMatmul", 9, 2, {"2 * f16[3, 3]", "2 * f16[3, 3]", EMPTY_4, "0 *", NONES_2,
                             "f16[3, 3]", "f16[3, 3]"}, {"split_item=2"}},
     "attribute", -1, 0, "with a result for each group, \"split_item\" must be 0 or 1"},
    {{GMM,
      {"2 * f16[3, 3]", "2 * f16[3, 3]", EMPTY_4, "0 *", "none", "none", "f16[6, 4]"},
      {"split_item=2"}}, "result-shape", 9, -1,
     "result 0 must have 2 dimensions, the last of 3"},
    {{GMM,
      {"2 * f16[3, 3]", "2 * f16[3, 3]", EMPTY_4, "0 *", "i64[3]", "none", "f16[6, 3]"},
      {"split_item=2"}}, "operand-shape", 7, -1,
     "operand 'group_list' must have an element for each of 2 groups"},
    {{GMM,
      {"2 * f16[3, 3]", "2 * f16[3, 3]", "2 * f16[3, 3]", EMPTY_4, "none", "none", "f16[6, 3]"},
      {"split_item=2"}}, "operand-shape", 2, -1,
     "operand 'bias' must have a tensor of 1 dimension for each group, or one of 2 for all"},
    {{GMM,
      {"2 * f16[3, 3]", "2 * f16[3, 3]", "0 *", "2 * f16[3, 3]", "0 *", "0 *", "0 *", NONES_2,
       "f16[6, 3]"},
      {"split_item=2"}}, "operand-form", 3, -1,
     "the sample kernel has no operand 'scale': it must be '[]'"},
    {{GMM,
      {"2 * f16[3, 2]", "2 * f16[3, 2]", EMPTY_4, "0 *", "none", "none", "f16[6, 2]"},
      {"split_item=2"}},
     "operand-shape", 0, -1, "tensor 0 of operand 'x' must have 2 dimensions, the last of 3"},
    {{GMM,
      {"2 * f16[3]", "2 * f16[3]", EMPTY_4, "0 *", "none", "none", "f16[6, 2]"},
      {"split_item=2"}},
     "operand-shape", 1, -1,
     "operand 'weight' must have a tensor of 2 dimensions for each group, or one of 3 for all"},
    {{GMM,
      {"0 *", "2 * f16[3, 3]", EMPTY_4, "0 *", "none", "none", "f16[6, 2]"},
      {"split_item=2"}},
     "operand-form", 0, -1, "operand 'x' is an empty list"},
    {{"SoftmaxV2", 1, 1, {"f16[2, 3]", "f16[2, 3]"}, {"axes=[1, 0]", "axes=[]"}}, "attribute", -1,
     1, "attribute \"axes\" of SoftmaxV2 is given twice"},
    {{"SoftmaxV2", 1, 1, {"f16[2]", "f16[2]"}, {"axes=[1, 0]"}}, "operand-shape", 0, -1,
     "SoftmaxV2 has no dimension 1 of 1, of which 'has(x, axes)' speaks"},
    {{"SoftmaxV2", 1, 1, {"f16[2]", "f16[2]"}, {"axes=0"}}, "attribute", -1, 0,
     "attribute \"axes\" of SoftmaxV2 must be a list of integers"},
    {{"SoftmaxV2", 1, 1, {"f16[]", "f16[]"}, {0}}, "operand-shape", 0, -1,
     "SoftmaxV2 has no dimension -1 of 0, of which 'has(x, axes)' speaks"},
    {{"RotaryMul", 3, 1, {"f16[2, 3]", "f16[3]", "f16[3]", "f16[2, 3]"}, {0}}, "operand-shape", 0,
     -1, "RotaryMul has 'x[-1] % 2 == 0', but 'x[-1]' is 3"},
    {{"RotaryMul", 3, 1, {"f16[2, 4]", "f16[1]", "f16[1]", "f16[2, 4]"}, {0}}, "operand-shape", 1,
     -1, "operand 'r1' must have the last dimension of operand 'x'"},
    {{"RotaryPositionEmbedding", 3, 1, {"f32[2, 4]", "f32[3, 4]", "f32[3, 4]", "f32[2, 4]"}, {0}},
     "operand-shape", 1, -1,
     "RotaryPositionEmbedding cannot broadcast [2, 4] and [3, 4] to one shape"},
    {{"RotaryPositionEmbedding", 3, 1, {"f32[2, 4]", "f32[4]", "f32[4]", "f32[2, 4]"}, {"mode=2"}},
     "attribute", -1, 0, "the sample kernel has \"mode\" 0 and 1, but not 2"},
    {{"AscendQuant", 1, 1, {"f16[4]", "i8[4]"}, {"scale=1", "offset=1", "round_mode='up"}},
     "attribute", -1, 2, "\"round_mode\" must be \"round\", \"floor\", \"ceil\" or \"trunc\""},
    {{"AscendQuant", 1, 1, {"f16[4]", "i8[4]"}, {"scale=inf", "offset=1"}}, "attribute", -1, 0,
     "attribute \"scale\" of AscendQuant must be a finite number"},
    {{"AscendQuant", 1, 1, {"f16[4]", "i8[4]"}, {"scale=1", "offset=1", "round_mode=1"}},
     "attribute", -1, 2, "attribute \"round_mode\" of AscendQuant must be a text"},
    {{"AscendQuant", 1, 1, {"f16[4]", "i4[4]"}, {"scale=1", "offset=1"}}, "result-dtype", 1, -1,
     "result 'y' must be i8, but is i4"},
    {{"AscendQuantV2", 3, 1, {"f16[4, 3]", "f16[4]", "none", "i8[4, 3]"}, {0}}, "operand-shape", 1,
     -1, "operand 'scale' must have 1 element, or one for each of 3 places of the axis, but has 4"},
    {{"AscendQuantV2", 3, 1, {"f16[4, 3]", "f16[4]", "none", "i8[4, 3]"}, {"axis=2"}},
     "operand-shape", 0, -1,
     "AscendQuantV2 has no dimension 2 of 2, of which 'has(x, axis)' speaks"},
    {{"AscendQuantV2", 3, 1, {"f16[4, 3]", "f16[1]", "none", "i8[4]"}, {0}}, "result-shape", 3, -1,
     "result 'y' of AscendQuantV2 is [4], but by 'y = x' it is [4, 3]"},
    {{"AscendDequant", 2, 1, {"i32[4, 3]", "f32[4]", "bf16[4, 3]"}, {0}}, "operand-shape", 1, -1,
     "operand 'deq_scale' must have 1 element, or one for each of 3 places of the axis, but "
     "has 4"},
    {{"DynamicQuant", 3, 2, {"f16[4, 3]", "none", "none", "i8[4, 3]", "f32[4]"}, {"dst_type=29"}},
     "attribute", -1, 0, "the sample kernel has \"dst_type\" = 2 only"},
    {{FAS, {"f16[2, 4, 48]", "f16[2, 5, 24]", "f16[2, 5, 24]", NONES_3, "none", NONES_5,
            "f32[2, 6, 4, 8]", "f32[2, 6, 4, 8]", "f16[0]", "f16[2, 4, 48]"},
      {"head_num=6", "input_layout='TND"}},
     "attribute", -1, 1, "\"input_layout\" must be \"BSH\", \"SBH\", \"BNSD\" or \"BSND\""},
    {{FAS, {"f16[2, 4, 48]", "f16[2, 5, 24]", "f16[2, 5, 24]", NONES_3, "none", NONES_5,
            "f32[2, 6, 4, 8]", "f32[2, 6, 4, 8]", "f16[0]", "f16[2, 4, 48]"}, {"head_num=6"}},
     "attribute", -1, -1, "the sample kernel needs \"input_layout\""},
    {{"TransposeD", 1, 1, {"u8[2, 3]", "u8[3, 2]"}, {0}},
     "attribute", -1, -1, "the sample kernel needs \"perm\""},
    {{"SliceD", 1, 1, {"u8[2, 3]", "u8[1, 3]"}, {"offsets=[1, 0]"}},
     "attribute", -1, -1, "the sample kernel needs \"size\""},
    {{"Muls", 1, 1, {"f16[3]", "f16[3]"}, {0}},
     "attribute",
     -1,
     -1,
     "the sample kernel needs \"value\""},
    {{"AscendQuant", 1, 1, {"f16[4]", "i8[4]"}, {"offset=1"}},
     "attribute",
     -1,
     -1,
     "the sample kernel needs \"scale\""},
    {{"ReduceSumD", 1, 1, {"f32[2, 3]", "f32[3]"}, {0}},
     "attribute", -1, -1, "the sample kernel needs \"axes\""},
    {{"ArgMaxD", 1, 1, {"f32[2, 0]", "i32[2]"}, {"dimension=1"}},
     "operand-shape", 0, -1, "ArgMaxD has 'x[dimension] > 0', which does not hold for 0 and 0"},
    {{"CumsumD", 1, 1, {"f32[2, 3]", "f32[2, 3]"}, {"axis=2"}},
     "operand-shape", 0, -1, "CumsumD has no dimension 2 of 2, of which 'x[axis] >= 0' speaks"},
    {{FAS, {"f16[2, 4, 48]", "f16[2, 5, 24]", "f16[2, 5, 24]", NONES_3, "none", NONES_5,
            "f32[2, 6, 4, 8]", "f32[2, 6, 4, 8]", "f16[0]", "f16[2, 4, 48]"},
      {"head_num=6", "input_layout='BNSD"}},
     "operand-shape", 0, -1, "operand 'query' must have 4 dimensions (BNSD), but has 3"},
    {{FAS, {"f16[2, 4, 48]", "f16[2, 5, 25]", "f16[2, 5, 25]", NONES_3, "none", NONES_5,
            "f32[2, 6, 4, 8]", "f32[2, 6, 4, 8]", "f16[0]", "f16[2, 4, 48]"},
      {"head_num=6", "input_layout='BSH"}},
     "operand-shape", 1, -1,
     "the 25 columns of operand 'key' are no heads of 8 columns, as those of operand 'query' "
     "are"},
    {{FAS, {"f16[2, 4, 48]", "f16[2, 5, 24]", "f16[2, 5, 24]", NONES_3, "none", NONES_5,
            "f32[2, 5, 4, 8]", "f32[2, 5, 4, 8]", "f16[0]", "f16[2, 4, 48]"},
      {"head_num=5", "input_layout='BSH"}},
     "operand-shape", 0, -1,
     "the 48 columns of operand 'query' are not \"head_num\" (5) heads of one size"},
    {{FAS, {"f16[2, 4, 48]", "f16[3, 5, 24]", "f16[3, 5, 24]", NONES_3, "none", NONES_5,
            "f32[2, 6, 4, 8]", "f32[2, 6, 4, 8]", "f16[0]", "f16[2, 4, 48]"},
      {"head_num=6", "input_layout='BSH"}},
     "operand-shape", 1, -1,
     "operand 'key' does not have the batches and columns of operand 'query', and heads for "
     "groups of its heads"},
    {{FAS, {"f16[2, 4, 48]", "f16[2, 5, 24]", "f16[2, 5, 24]", NONES_3, "none", NONES_5,
            "f32[2, 6, 4, 8]", "f32[2, 6, 4, 8]", "f16[1]", "f16[2, 4, 48]"},
      {"head_num=6", "input_layout='BSH"}},
     "result-shape", 14, -1, "the sample kernel does not make result 'softmax_out': it must "
     "have no elements"},
    {{FAS, {"f16[2, 4, 48]", "f16[2, 5, 24]", "f16[2, 5, 24]", NONES_3, "none", NONES_5,
            "f32[2, 6, 4, 8]", "f32[2, 6, 4, 8]", "f16[0]", "f16[2, 4, 48]"},
      {"head_num=6", "input_layout='BSH", "next_tockens=0"}},
     "attribute", -1, 2, "the sample kernel has no band: \"next_tockens\" must be 5 at least"},
    {{FAS, {"f16[2, 4, 48]", "f16[2, 5, 24]", "f16[2, 5, 24]", NONES_3, "none", NONES_5,
            "f32[2, 6, 4, 8]", "f32[2, 6, 4, 8]", "f16[0]", "f16[2, 4, 48]"},
      {"head_num=6", "input_layout='BSH", "keep_prob=0.5", "pre_tockens=3"}},
     "attribute", -1, 2, "the sample kernel has \"keep_prob\" = 1 only"},
    {{FAS, {"f16[2, 4, 48]", "f16[2, 5, 24]", "f16[2, 5, 24]", NONES_3, "none", NONES_5,
            "f32[2, 6, 4, 8]", "f32[2, 6, 4, 8]", "f16[0]", "f16[2, 4, 48]"},
      {"head_num=6", "input_layout='BSH", "pre_tockens=3"}},
     "attribute", -1, 2, "the sample kernel has no band: \"pre_tockens\" must be 4 at least"},
    {{FAS, {"f16[2, 4, 48]", "f16[2, 5, 24]", "f16[2, 5, 24]", NONES_3, "none", NONES_5,
            "f32[2, 6, 4, 8]", "f32[2, 6, 4, 8]", "f16[0]", "f16[2, 4, 48]"},
      {"head_num=5", "input_layout='BNSD"}},
     "operand-shape", 0, -1, "operand 'query' must have 4 dimensions (BNSD), but has 3"},
    {{"RmsNorm", 2, 2, {"f32[2, 3]", "f32[2]", "f32[2, 3]", "f32[2, 1]"}, {0}},
     "operand-shape", 0, -1, "operand 'x' [2, 3] of RmsNorm does not fit 'x = [..rows, ..gamma]'"},
    {{"RmsNorm", 2, 2, {"f32[2, 3]", "f32[3]", "f32[3, 2]", "f32[2, 1]"}, {0}},
     "result-shape", 2, -1, "result 'y' of RmsNorm is [3, 2], but by 'y = x' it is [2, 3]"},
    {{"RmsNorm", 2, 2, {"f32[2, 3]", "f32[3]", "f32[2, 3]", "f32[2]"}, {0}},
     "result-shape", 3, -1,
     "result 'rstd' of RmsNorm is [2], but by 'rstd = [..rows, ..ones(rank(gamma))]' it "
     "is [2, 1]"},

    {{"Add", 2, 1, {"f32[2]", "f32[2]", "f32[2]"}, {"alpha=1"}}, "attribute", -1, 0,
     "attribute \"alpha\" of Add is unknown"},
    {{"MatMul", 2, 1, {"f16[2, 3]", "f16[3, 4]", "f16[2, 4]"}, {"transpose_x1=2"}},
     "attribute", -1, 0, "attribute \"transpose_x1\" of MatMul must be true or false"},
    {{"MatMul", 2, 1, {"f16[2, 3]", "f16[3, 4]", "f16[2, 4]"},
      {"transpose_x1=0", "transpose_x2=0.5"}},
     "attribute", -1, 1, "attribute \"transpose_x2\" of MatMul must be true or false"},
    {{"MatMul", 2, 1, {"f16[2, 3]", "f16[3, 4]", "f16[2, 4]"},
      {"transpose_x1=0", "transpose_x1=0"}},
     "attribute", -1, 1, "attribute \"transpose_x1\" of MatMul is given twice"},
    {{"RmsNorm", 2, 2, {"f32[2, 3]", "f32[3]", "f32[2, 3]", "f32[2, 1]"}, {"epsilon=-1"}},
     "attribute", -1, 0, "attribute \"epsilon\" of RmsNorm must be a number that is not negative"},
    {{"RmsNorm", 2, 2, {"f32[2, 3]", "f32[3]", "f32[2, 3]", "f32[2, 1]"}, {"epsilon=inf"}},
     "attribute", -1, 0, "attribute \"epsilon\" of RmsNorm must be a number that is not negative"},
    {{"ScatterUpdate", 3, 1, {"f16[8, 3]", "f16[2]", "f16[2, 3]", "f16[8, 3]"}, {0}},
     "operand-dtype", 1, -1, "operand 'indices' must be i32 or i64, but is f16"},
    {{"ScatterUpdate", 3, 1, {"f16[8, 3]", "i64[2]", "f32[2, 3]", "f16[8, 3]"}, {0}},
     "operand-dtype", 2, -1, "operand 'updates' must be f16 like operand 'var', but is f32"},
    {{"ScatterUpdate", 3, 1, {"i4[8]", "i64[2]", "i4[2]", "i4[8]"}, {0}}, "operand-dtype", 0, -1,
     "operand 'var' must be f32, f16, bf16, f64, i8, i16, i32, i64, u8, u16, u32, u64 or bool, "
     "but is i4"},
    {{"ScatterUpdate", 3, 1, {"f16[]", "i64[1]", "f16[]", "f16[]"}, {0}}, "operand-shape", 0, -1,
     "ScatterUpdate has no dimension 0 of 0, of which 'var[axis] >= 0' speaks"},
    {{"ScatterUpdate", 3, 1, {"f16[8, 3]", "i64[2, 1]", "f16[2, 3]", "f16[8, 3]"}, {0}},
     "operand-shape", 1, -1, "operand 'indices' must have 1 dimension, but has 2"},
    {{"ScatterUpdate", 3, 1, {"f16[8, 3]", "i64[2]", "f16[3, 3]", "f16[8, 3]"}, {0}},
     "operand-shape", 2, -1,
     "operand 'updates' of ScatterUpdate is [3, 3], but by 'updates = [..slice(var, 0, axis), "
     "..indices, ..slice(var, axis + 1, axis == -1 ? 0 : rank(var))]' it is [2, 3]"},
    {{"ScatterUpdate", 3, 1, {"f16[8, 3]", "i64[2]", "f16[2, 3]", "f16[8, 3]"}, {"axis=1"}},
     "operand-shape", 2, -1,
     "operand 'updates' of ScatterUpdate is [2, 3], but by 'updates = [..slice(var, 0, axis), "
     "..indices, ..slice(var, axis + 1, axis == -1 ? 0 : rank(var))]' it is [8, 2]"},
    {{"ScatterUpdate", 3, 1, {"f16[8, 3]", "i64[2]", "f16[2, 3]", "f16[24]"}, {0}},
     "result-shape", 3, -1,
     "result 'var' of ScatterUpdate is [24], but the operand that it updates is [8, 3]"},
    {{"ScatterUpdate", 3, 1, {"f16[8, 3]", "i64[2]", "f16[2, 3]", "f16[8, 3]"}, {"axis=2"}},
     "operand-shape", 0, -1,
     "ScatterUpdate has no dimension 2 of 2, of which 'var[axis] >= 0' speaks"},
    {{"ScatterUpdate", 3, 1, {"f16[8, 3]", "i64[2]", "f16[2, 3]", "f16[8, 3]"}, {"axis=-3"}},
     "operand-shape", 0, -1,
     "ScatterUpdate has no dimension -3 of 2, of which 'var[axis] >= 0' speaks"},
    {{"ScatterUpdate", 3, 1, {"f16[8, 3]", "i64[2]", "f16[2, 3]", "f16[8, 3]"}, {"axis=0.5"}},
     "attribute", -1, 0, "attribute \"axis\" of ScatterUpdate must be an integer"},
    {{"Assign", 2, 1, {"f32[2]", "f32[2]", "f32[2]"}, {0}}, "result-count", -1, -1,
     "Assign takes 0 results, but has 1"},
    {{"Assign", 2, 0, {"f32[2]", "f16[2]"}, {0}}, "operand-dtype", 1, -1,
     "operand 'value' must be f32 like operand 'ref', but is f16"},
    {{"Assign", 2, 0, {"f32[2]", "f32[3]"}, {0}}, "operand-shape", 1, -1,
     "operand 'value' of Assign is [3], but by 'value = ref' it is [2]"},
    {{DSQ, {"f16[2, 6]", "f32[6]", NONES_5, "i8[2, 3]", "f32[2]"}, {"activate=1"}},
     "attribute", -1, 0, "attribute \"activate\" of DequantSwigluQuant is unknown"},
};
/* clang-format on */

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        const struct refusal *refusal = &refusals[i];
        struct sample_op_error error;
        if (op_check(&refusal->op, &error))
            fail_msg("%s is accepted (case %zu), not refused: %s", refusal->op.type, i,
                     refusal->text);
        assert_string_equal(error.text, refusal->text);
        assert_string_equal(error.id, refusal->id);
        assert_int_equal(error.tensor, refusal->tensor);
        assert_int_equal(error.attribute, refusal->attribute);
    }
}

/* Texts that would not fit are cut. */
static void test_long_texts(void **state)
{
    (void)state;
    struct sample_op_error error;
    char type[1000];
    memset(type, 'x', sizeof type - 1);
    type[sizeof type - 1] = '\0';
    assert_false(sample_op_check(known, type, NULL, 0, 0, NULL, 0, &error));

    struct skrt_tensor tensors[2] = {{.dtype = SKRT_f32, .rank = 8}, {.dtype = SKRT_f32}};
    for (int i = 0; i < 8; i++)
        tensors[0].dims[i] = i < 1 ? INT64_C(100000000000000) : 1;
    assert_false(sample_op_check(known, "Softmax", tensors, 1, 1, NULL, 0, &error));
    assert_string_equal(error.id, "result-shape");

    struct skrt_attr attr;
    memset(&attr, 'x', sizeof attr);
    tensors[1] = tensors[0];
    assert_false(sample_op_check(known, "Softmax", tensors, 1, 1, &attr, 1, &error));
    assert_string_equal(error.id, "attribute");
}

static void test_attr_kinds(void **state)
{
    (void)state;
    static const char type[] = "FusedInferAttentionScore", key[] = "input_layout";
    assert_int_equal(sample_op_attr_kind(known, type, key), SAMPLE_TEXT);
    assert_int_equal(sample_op_attr_kind(known, type, "num_heads"), SAMPLE_NUMBER);
    assert_int_equal(sample_op_attr_kind(known, type, "foo"), SAMPLE_NUMBER);
    assert_int_equal(sample_op_attr_kind(known, "Foo", key), SAMPLE_NUMBER);
}

static void test_names(void **state)
{
    (void)state;
    unsigned n = 0, operands, results;
    for (; sample_op_name(n) != NULL; n++)
        assert_true(sample_op_arity(known, sample_op_name(n), &operands, &results));
    assert_true(n > 10);
    assert_null(sample_op_name(n + 1));
    assert_true(sample_op_arity(known, "QuantBatchMatmulV3", &operands, &results));
    assert_int_equal(operands, 6);
    assert_int_equal(results, 1);
    assert_false(sample_op_arity(known, "Foo", &operands, &results));
    assert_string_equal(sample_op_attrs(known, "MatMul")[0], "transpose_x1");
    assert_string_equal(sample_op_attrs(known, "MatMul")[1], "transpose_x2");
    assert_null(sample_op_attrs(known, "MatMul")[2]);
    assert_null(sample_op_attrs(known, "Add")[0]);
    assert_null(sample_op_attrs(known, "Foo")[0]);
}

static void test_memory(void **state)
{
    (void)state;
    assert_int_equal(sample_op_memory(known, "Add"), SAMPLE_IN_PLACE);
    assert_int_equal(sample_op_memory(known, "Softmax"), SAMPLE_APART);
    assert_int_equal(sample_op_memory(known, "MatMul"), SAMPLE_APART);
    assert_int_equal(sample_op_memory(known, "ScatterUpdate"), SAMPLE_UPDATE);
    assert_int_equal(sample_op_memory(known, "Assign"), SAMPLE_UPDATE);
}

static void test_nz(void **state)
{
    (void)state;
    assert_int_equal(nz_elements(17, 33, 1), 2 * 32 * 32);
    assert_int_equal(nz_elements(16, 32, 2), 2 * 16 * 16);
    assert_int_equal(nz_elements(1, 1, 4), 16 * 8);
    assert_int_equal(nz_elements(0, 5, 4), 0);
    assert_int_equal(nz_offset(17, 1, 0, 32), 32 * 32);
    assert_int_equal(nz_offset(17, 1, 16, 31), 16 * 32 + 31);
    assert_int_equal(nz_offset(20, 2, 3, 17), 32 * 16 + 3 * 16 + 1);
}

/* ----------------------------------------------------------------- the descriptions ---- */

/* "IsInf" to "is_inf", "QuantBatchMatmulV3" to "quant_batch_matmul_v3". */
static void snake_case(const char *name, char *text, size_t size)
{
    size_t used = 0;
    for (const char *at = name; *at != '\0' && used + 2 < size; at++) {
        bool upper = *at >= 'A' && *at <= 'Z';
        if (upper && at != name)
            text[used++] = '_';
        text[used++] = (char)(upper ? *at - 'A' + 'a' : *at);
    }
    text[used] = '\0';
}

/* The descriptions are made beside the compiler. */
static FILE *description_open(const char *skirc, const char *kernel)
{
    char path[4096];
    int folder = (int)(strrchr(skirc, '/') - skirc);
    snprintf(path, sizeof path, "%.*s/backend/kernels/%s.json", folder, skirc, kernel);
    return fopen(path, "r");
}

/* Of the kernel `name`, which is made "name_op" if that is what there is. */
static cJSON *description_read(const char *skirc, char *name, size_t size)
{
    char text[4096];
    FILE *file = description_open(skirc, name);
    if (file == NULL) {
        snprintf(name + strlen(name), size - strlen(name), "_op");
        file = description_open(skirc, name);
    }
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    cJSON *json = cJSON_Parse(text);
    assert_non_null(json);
    return json;
}

static const char *text_at(const cJSON *json, const char *key)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, key));
    assert_non_null(text);
    return text;
}

static void check_functions(const cJSON *json, const char *kernel, const char *arch,
                            const char *suffix)
{
    char expected[128];
    const cJSON *names = cJSON_GetObjectItemCaseSensitive(json, "sub_operator_kernel_name");
    const cJSON *part = cJSON_GetObjectItemCaseSensitive(names, arch);
    snprintf(expected, sizeof expected, "%s%s", kernel, suffix);
    assert_string_equal(text_at(part, "func_name"), expected);
    snprintf(expected, sizeof expected, "%s.o", kernel);
    assert_string_equal(text_at(part, "obj_files"), expected);
}

static void check_description(const cJSON *json, const char *op_type, const char *kernel)
{
    unsigned operands, results;
    assert_true(sample_op_arity(known, op_type, &operands, &results));
    assert_string_equal(text_at(json, "sub_operator_op_type"), op_type);
    assert_string_equal(text_at(json, "kernelName"), kernel);
    const cJSON *params = cJSON_GetObjectItemCaseSensitive(json, "sub_operator_params");
    bool workspace = cJSON_HasObjectItem(json, "skir_workspace");
    int n = cJSON_GetArraySize(params);
    assert_int_equal(n, operands + results + workspace + 1);
    const char *last = cJSON_GetArrayItem(params, n - 1)->valuestring;
    bool repeated = last[strlen(last) - 1] == '+';
    assert_string_equal(cJSON_GetArrayItem(params, n - 1 - repeated)->valuestring, "tiling");
    if (workspace)
        assert_string_equal(cJSON_GetArrayItem(params, n - 2)->valuestring, "workspace");

    const char *kind = text_at(json, "sub_operator_kernel_type");
    bool vector = strcmp(kind, "KERNEL_TYPE_AIV_ONLY") == 0;
    double blocks = cJSON_GetObjectItemCaseSensitive(json, "blockDim")->valuedouble;
    assert_int_equal((int)blocks, vector ? 48 : 24);
    if (strcmp(kind, "KERNEL_TYPE_MIX_AIC_1_2") == 0) {
        check_functions(json, kernel, "dav-c220-cube", "_mix_aic");
        check_functions(json, kernel, "dav-c220-vec", "_mix_aiv");
    } else {
        assert_true(vector || strcmp(kind, "KERNEL_TYPE_AIC_ONLY") == 0);
        check_functions(json, kernel, "AiCore", "");
    }
}

/* Every op of the table has a description that agrees with it. */
static void test_descriptions(void **state)
{
    (void)state;
    const char *skirc = getenv("SKIRC");
    if (skirc == NULL)
        skip();
    for (unsigned i = 0; sample_op_name(i) != NULL; i++) {
        char kernel[64];
        snake_case(sample_op_name(i), kernel, sizeof kernel);
        cJSON *json = description_read(skirc, kernel, sizeof kernel);
        check_description(json, sample_op_name(i), kernel);
        cJSON_Delete(json);
    }
}

static void expect_tiling(const struct skrt_tensor *y, int64_t key, uint32_t blocks)
{
    struct skrt_tensor tensors[3] = {*y, *y, *y};
    struct sample_tiling tiling;
    assert_true(sample_op_tiling("add_dynamic.o", tensors, 3, 40, &tiling));
    assert_int_equal(tiling.key, key);
    assert_int_equal(tiling.blocks, blocks);
}

static void test_tilings(void **state)
{
    (void)state;
    struct sample_tiling tiling;
    expect_tiling(&(struct skrt_tensor){.rank = 0}, 0, 1);
    expect_tiling(&(struct skrt_tensor){.rank = 1, .dims = {4096}}, 0, 1);
    expect_tiling(&(struct skrt_tensor){.rank = 1, .dims = {4097}}, 1, 40);
    expect_tiling(&(struct skrt_tensor){.rank = 3, .dims = {16, 16, 16}}, 0, 1);
    expect_tiling(&(struct skrt_tensor){.rank = 3, .dims = {16, 16, 17}}, 1, 40);
    expect_tiling(&(struct skrt_tensor){.rank = 2, .dims = {0, INT64_MAX}}, 0, 1);
    expect_tiling(&(struct skrt_tensor){.rank = 2, .dims = {INT64_MAX, INT64_MAX}}, 1, 40);
    struct skrt_tensor one = {.rank = 0};
    assert_false(sample_op_tiling("add.o", &one, 1, 40, &tiling));
    assert_false(sample_op_tiling("add_dynamic.o", &one, 1, 40, &tiling));
}

static int read_types(void **state)
{
    (void)state;
    known = op_types_new();
    return 0;
}

static int free_types(void **state)
{
    (void)state;
    op_types_free(known);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepted),   cmocka_unit_test(test_all_accepted),
        cmocka_unit_test(test_families),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_long_texts), cmocka_unit_test(test_attr_kinds),
        cmocka_unit_test(test_names),      cmocka_unit_test(test_memory),
        cmocka_unit_test(test_nz),         cmocka_unit_test(test_descriptions),
        cmocka_unit_test(test_tilings),
    };
    return cmocka_run_group_tests(tests, read_types, free_types);
}
