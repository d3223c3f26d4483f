/* The signatures of the sample ops: what is accepted, and what else is known of them; what is
 * refused stands in test_sample_refusals.c. */
#include "tests/unit/sample_op_text.h"

#include "backend/kernels/nz.h"
#include "backend/kernels/sample_ops.h"

static const struct op_text accepted[] = {
    {"Transpose", 2, 1, {"u8[2, 3]", "i32[2]", "u8[3, 2]"}, {0}},
    {"TransposeD", 1, 1, {"u8[2, 3]", "u8[3, 2]"}, {"perm=[1, 0]"}},
    {"Slice", 3, 1, {"bool[2, 3]", "i64[2]", "i64[2]", "bool[1, 3]"}, {0}},
    {"LayerNormV3",
     3,
     3,
     {"f16[2, 3]", "f32[3]", "f32[3]", "f16[2, 3]", "f32[2, 1]", "f32[2, 1]"},
     {"begin_norm_axis=1", "begin_params_axis=1"}},
    {"LayerNormV4",
     4,
     3,
     {"f16[2, 3]", "i32[1]", "f32[3]", "none", "f16[2, 3]", "f32[2, 1]", "f32[2, 1]"},
     {0}},
    {"LRN", 1, 1, {"f16[1, 2, 3, 4]", "f16[1, 2, 3, 4]"}, {"depth_radius=1"}},
    {"MatMul", 2, 1, {"i32[2, 3]", "i32[3, 4]", "i32[2, 4]"}, {0}},
    {"BatchMatMul", 2, 1, {"f64[5, 2, 3]", "f64[3, 4]", "f64[5, 2, 4]"}, {0}},
    {"Eye", 0, 1, {"bf16[1, 0, 2, 3]"}, {"num_rows=2", "num_columns=3", "batch_shape=[1, 0]"}},
    {"Round", 1, 1, {"f16[2]", "f16[2]"}, {"decimals=-2"}},
    {"Softmax", 1, 1, {"f64[2]", "f64[2]"}, {0}},
    {"TensorMove", 1, 1, {"bool[2, 3]", "bool[2, 3]"}, {0}},
    {"ReverseV2", 2, 1, {"u32[2, 3]", "i64[2]", "u32[2, 3]"}, {0}},
    {"MatrixBandPart", 3, 1, {"u32[2, 3]", "i64[]", "i64[1]", "u32[2, 3]"}, {0}},
    {"DepthToSpace", 1, 1, {"f64[1, 2, 3, 8]", "f64[1, 4, 6, 2]"}, {"block_size=2", "mode='CRD"}},
    {"SpaceToDepth",
     1,
     1,
     {"f64[1, 2, 4, 6]", "f64[1, 8, 2, 3]"},
     {"block_size=2", "data_format='NCHW"}},
    {"Unpack", 1, 2, {"u8[3, 2]", "u8[3]", "u8[3]"}, {"axis=1", "num=2"}},
    {"Expand", 2, 1, {"f16[3, 1]", "i32[2]", "f16[3, 4]"}, {0}},
    {"StridedSliceV3", 5, 1, {"f16[4]", "i32[1]", "i32[1]", "none", "none", "f16[2]"}, {0}},
    {"StridedSliceV3", 5, 1, {"f16[4]", "i32[1]", "i32[1]", "i32[1]", "i32[1]", "f16[2]"}, {0}},
    {"PadV2", 3, 1, {"u32[3]", "i64[1, 2]", "u32[]", "u32[6]"}, {0}},
    {"MirrorPad", 2, 1, {"u32[3]", "i64[1, 2]", "u32[6]"}, {"mode='REFLECT"}},
    {"GatherElements", 2, 1, {"f16[2, 3]", "i64[2, 9]", "f16[2, 9]"}, {"dim=-1"}},
    {"GatherNd", 2, 1, {"f16[2, 3, 4]", "i64[5, 2]", "f16[5, 4]"}, {0}},
    {"ScatterElements",
     3,
     1,
     {"bool[2, 3]", "i32[1, 2]", "bool[1, 2]", "bool[2, 3]"},
     {"axis=1", "reduction='add"}},
    {"ScatterNd", 3, 1, {"i32[5, 1]", "u64[5, 3]", "i64[2]", "u64[2, 3]"}, {0}},
    {"OneHot", 4, 1, {"u8[2, 3]", "i64[]", "bool[]", "bool[1]", "bool[2, 9, 3]"}, {"axis=1"}},
    {"Range", 3, 1, {"u16[]", "u16[1]", "u16[]", "u16[7]"}, {0}},
    {"Shape", 1, 1, {"u16[7, 1]", "i64[2]"}, {"dtype=9"}},
    {"Size", 1, 1, {"u16[7, 1]", "i32[]"}, {0}},
    {"Rank", 1, 1, {"u16[7, 1]", "i32[]"}, {0}},
    {"BiasAdd", 2, 1, {"u16[7, 3, 2]", "u16[3]", "u16[7, 3, 2]"}, {"data_format='NCHW"}},
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
     {"num_heads=2", "input_layout='BNSD"}},
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
      "SquaredDifference", "TruncateDiv", "TruncateMod", "DivNoNan", "BitwiseAnd", "BitwiseOr",
      "BitwiseXor", "LeftShift", "RightShift"}},
    {{"", 2, 1, {"bf16[2, 1]", "bf16[3]", "bf16[2, 3]"}, {0}},
     {"Add", "Sub", "Mul", "Div", "RealDiv", "FloorDiv", "FloorMod", "Mod", "Maximum", "Minimum",
      "Pow", "Pows", "SquaredDifference", "Atan2", "Xlogy", "Xdivy"}},
    {{"", 2, 1, {"f64[2, 3, 4]", "f64[3]", "f64[2, 3, 4]"}, {0}}, {"PRelu"}},
    {{"", 2, 1, {"u8[2, 1]", "u8[3]", "bool[2, 3]"}, {0}},
     {"Equal", "NotEqual", "Greater", "GreaterEqual", "Less", "LessEqual"}},
    {{"", 2, 1, {"bool[2, 1]", "bool[3]", "bool[2, 3]"}, {0}},
     {"Equal", "NotEqual", "LogicalAnd", "LogicalOr"}},
    {{"", 1, 1, {"i8[2, 3]", "i8[2, 3]"}, {0}},
     {"Neg", "Abs", "Square", "Relu", "Sign", "Relu6", "Trunc", "Round", "Invert"}},
    {{"", 1, 1, {"i8[2, 3]", "i8[2, 3]"}, {"value=-2"}}, {"Adds", "Muls"}},
    {{"", 1, 1, {"f16[2, 3]", "f16[2, 3]"}, {0}},
     {"Neg",    "Abs",   "Square", "Relu",  "Sign",     "Exp",        "Expm1",
      "Log",    "Log1p", "Sqrt",   "Rsqrt", "Sin",      "Reciprocal", "Cos",
      "Tanh",   "Erf",   "Floor",  "Ceil",  "Round",    "Gelu",       "Sigmoid",
      "GeluV2", "Swish", "Silu",   "Cast",  "FastGelu", "Softplus",   "LeakyRelu"}},
    {{"", 1, 1, {"f64[2, 3]", "f64[2, 3]"}, {0}},
     {"Tan",        "Asin",       "Acos",        "Atan",     "Sinh",
      "Cosh",       "Asinh",      "Acosh",       "Atanh",    "Erfc",
      "Rint",       "Selu",       "HardSwish",   "Softsign", "Mish",
      "Elu",        "CeluV2",     "HardSigmoid", "Trunc",    "ThresholdedRelu",
      "HardShrink", "SoftShrink", "Exp"}},
    {{"", 1, 1, {"f64[4, 2, 3]", "f64[4, 2, 3]"}, {"diagonal=1"}}, {"Triu", "Tril"}},
    {{"", 3, 1, {"f64[4, 3]", "i64[2, 1]", "f64[2, 3]", "f64[4, 3]"}, {0}},
     {"TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub", "TensorScatterMax",
      "TensorScatterMin", "ScatterNdUpdate", "ScatterNdAdd"}},
    {{"", 2, 1, {"bool[2, 3]", "i64[1]", "bool[2]"}, {0}}, {"ReduceAll", "ReduceAny"}},
    {{"", 1, 1, {"bool[2, 3]", "bool[]"}, {"axes=[1, 0]"}}, {"ReduceAllD", "ReduceAnyD"}},
    {{"", 2, 1, {"f64[2, 3]", "i64[1]", "f64[2]"}, {0}}, {"ReduceLogSumExp"}},
    {{"", 2, 1, {"u64[2, 3]", "i64[1]", "i32[2]"}, {0}}, {"ArgMin", "ArgMaxV2"}},
    {{"", 1, 1, {"u16[2, 3]", "i32[2]"}, {"dimension=1"}}, {"ArgMinD"}},
    {{"", 2, 1, {"u32[2, 3]", "i64[]", "u32[2, 3]"}, {0}}, {"Cumprod"}},
    {{"", 1, 1, {"u32[2, 3]", "u32[2, 3]"}, {"axis=1"}}, {"CumprodD"}},
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
            op.tensors[op.n_operands - 1] = "u4[7]";
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepted), cmocka_unit_test(test_all_accepted),
        cmocka_unit_test(test_families), cmocka_unit_test(test_attr_kinds),
        cmocka_unit_test(test_names),    cmocka_unit_test(test_memory),
        cmocka_unit_test(test_nz),       cmocka_unit_test(test_tilings),
    };
    return cmocka_run_group_tests(tests, read_types, free_types);
}
