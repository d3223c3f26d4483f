/* What sample ops refuse: the negative twin of every rule of their signatures. */
#include "tests/unit/sample_op_text.h"

struct refusal {
    struct op_text op;
    const char *id;
    int tensor, attribute;
    const char *text;
};

/* clang-format off */
static const struct refusal refusals[] = {
    {{"HcomAllGather", 1, 1, {"f16[2]", "f16[8]"}, {"rank_size=4"}}, "operand-shape", 0, -1,
     "the sample kernel has 'rank_size == 1', which does not hold for 4 and 1"},
    {{"AllGather", 1, 1, {"f16[2]", "f16[8]"}, {0}}, "result-shape", 1, -1,
     "result 'y' of the sample kernel is [8], but by 'y = x' it is [2]"},
    {{"SplitD", 1, 2, {"f16[6]", "f16[3]", "f16[3]"}, {"split_dim=1", "num_split=2"}},
     "operand-shape", 0, -1,
     "SplitD has no dimension 1 of 1, of which 'x[split_dim] % num_split == 0' speaks"},
    {{"SplitVD", 1, 2, {"f16[6]", "f16[2]", "f16[3]"}, {"split_dim=0"}}, "result-shape", 1, -1,
     "SplitVD has 'sum(lengths(y, split_dim)) == x[split_dim]', which does not hold for 5 and "
     "6"},
    {{"SplitV", 3, 2, {"f16[6]", "i32[2]", "i32[]", "f16[2]", "f16[3]"}, {0}},
     "result-shape", 3, -1,
     "SplitV has 'joins(y, x)', which does not hold"},
    {{"SplitVD", 1, 2, {"f16[6]", "f16[3]", "f32[3]"}, {0}}, "result-dtype", 2, -1,
     "result 1 must be f16 like operand 'x', but is f32"},
    {{"ConcatV2", 2, 1, {"2 * f16[2]", "i32[]", "f16[5]"}, {0}}, "operand-shape", 0, -1,
     "ConcatV2 has 'joins(x, y)', which does not hold"},
    {{"Transpose", 2, 1, {"i4[2, 3]", "i32[2]", "i4[3, 2]"}, {0}}, "operand-dtype", 0, -1,
     "operand 'x' must be f32, f16, bf16, f64, i8, i16, i32, i64, u8, u16, u32, u64 or bool, "
     "but is i4"},
    {{"Select", 3, 1, {"bool[4]", "f32[2, 3]", "f32[3]", "f32[2, 3]"}, {0}}, "result-shape", 3, -1,
     "the sample kernel cannot broadcast [4] and [2, 3] to one shape"},
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
    {{"AddN", 1, 1, {"2 * bool[2]", "bool[2]"}, {0}}, "operand-dtype", 0, -1,
     "operand 'x' must be f32, f16, bf16, f64, i8, i16, i32, i64, u8, u16, u32 or u64, but is "
     "bool"},
    {{"AddN", 1, 1, {"2 * f32[2]", "f32[3]"}, {0}}, "result-shape", 1, -1,
     "result 'y' of AddN is [3], but by 'y = s' it is [2]"},
    {{"ConcatD", 1, 1, {"2 * f32[2]", "f32[4]"}, {"concat_dim=1"}}, "operand-shape", 0, -1,
     "ConcatD has no dimension 1 of 1, of which 'y = concat(x, concat_dim)' speaks"},
    {{"ConcatD", 1, 1, {"2 * f32[2]", "f32[3]"}, {0}}, "result-shape", 1, -1,
     "result 'y' of ConcatD is [3], but by 'y = concat(x, concat_dim)' it is [4]"},
    {{FIA,
      {"f16[2, 4, 8]", "2 * f16[1, 5, 8]", "2 * f16[1, 5, 8]", "none", "bool[5, 4]", NONES_26,
       "f16[2, 4, 8]", "f32[2, 2, 4, 1]"},
      {"num_heads=2"}}, "operand-shape", 4, -1,
     "operand 'atten_mask' of the sample kernel is [5, 4], but by 'atten_mask = "
     "rank(atten_mask) == 4 ? [query[0], 1, query[rank(query) - 2], key[rank(query) - 2]] : "
     "[query[rank(query)...' it is [4, 5]"},
    {{FIA,
      {"f16[3, 4, 8]", "2 * f16[1, 5, 8]", "2 * f16[1, 5, 8]", NONES_2, NONES_26,
       "f16[3, 4, 8]", "f32[3, 2, 4, 1]"},
      {"num_heads=2"}}, "operand-shape", 1, -1,
     "the sample kernel has 'count(key) == 1 || count(key) == query[0]', which does not hold"},
    {{"Ad", 2, 1, {"f32[2]", "f32[2]", "f32[2]"}, {0}}, "op-type", -1, -1,
     "there is no sample kernel for \"Ad\""},
    {{"Add", 1, 1, {"f32[2]", "f32[2]"}, {0}}, "operand-count", -1, -1,
     "Add takes 2 operands, but has 1"},
    {{"Softmax", 2, 1, {"f32[2]", "f32[2]", "f32[2]"}, {0}}, "operand-count", -1, -1,
     "Softmax takes 1 operand, but has 2"},
    {{"RmsNorm", 2, 1, {"f32[3]", "f32[3]", "f32[3]"}, {0}}, "result-count", -1, -1,
     "RmsNorm takes 2 results, but has 1"},

    {{"Add", 2, 1, {"bool[2]", "bool[2]", "bool[2]"}, {0}}, "operand-dtype", 0, -1,
     "operand 'x1' must be f32, f16, bf16, f64, i8, i16, i32, i64, u8, u16, u32 or u64, but is "
     "bool"},
    {{"MatMul", 2, 1, {"i32[2, 3]", "i32[3, 4]", "f32[2, 4]"}, {0}}, "result-dtype", 2, -1,
     "result 'y' must be of the data type of operand 'x1'"},
    {{"MatMulV2", 4, 1, {"f32[2, 3]", "f32[3, 4]", "f64[4]", "none", "f32[2, 4]"}, {0}},
     "operand-dtype", 2, -1, "operand 'bias' must be f32, f16 or bf16, as is operand 'x1'"},
    {{"MatMul", 2, 1, {"f64[2, 3]:NZ", "f64[3, 4]", "f64[2, 4]"}, {0}}, "operand-format", 0, -1,
     "operand 'x1' of this data type must have the format ND"},
    {{"SoftmaxV2", 1, 1, {"f64[2]", "f32[2]"}, {"half_to_float=1"}}, "result-dtype", 1, -1,
     "result 'y' must be f64 like operand 'x'"},
    {{"Round", 1, 1, {"i32[2]", "i32[2]"}, {"decimals=-1"}}, "attribute", -1, 0,
     "the sample kernel rounds integers with \"decimals\" of 0 or more, not -1"},
    {{"Invert", 1, 1, {"f32[2]", "f32[2]"}, {0}}, "operand-dtype", 0, -1,
     "operand 'x' must be i8, i16, i32, i64, u8, u16, u32 or u64, but is f32"},
    {{"PRelu", 2, 1, {"f32[2, 3]", "f32[2]", "f32[2, 3]"}, {0}}, "operand-shape", 1, -1,
     "PRelu has 'size(weight) == 1 || size(weight) == x[rank(x) == 1 ? 0 : 1]', which does not "
     "hold"},
    {{"Add", 2, 1, {"f16[2]", "f32[2]", "f16[2]"}, {0}}, "operand-dtype", 1, -1,
     "operand 'x2' must be f16 like operand 'x1', but is f32"},
    {{"Mul", 2, 1, {"f16[2]", "f16[2]", "f32[2]"}, {0}}, "result-dtype", 2, -1,
     "result 'y' must be f16 like operand 'x1', but is f32"},
    {{"Pows", 2, 1, {"i32[2]", "i32[2]", "i32[2]"}, {0}}, "operand-dtype", 0, -1,
     "operand 'x1' must be f32, f16, bf16 or f64, but is i32"},
    {{"Cast", 1, 1, {"i4[2]", "f32[2]"}, {0}}, "operand-dtype", 0, -1,
     "operand 'x' must be f32, f16, bf16, f64, i8, i16, i32, i64, u8, u16, u32, u64 or bool, "
     "but is i4"},
    {{"Cast", 1, 1, {"f32[2]", "u4[2]"}, {0}}, "result-dtype", 1, -1,
     "result 'y' must be f32, f16, bf16, f64, i8, i16, i32, i64, u8, u16, u32, u64 or bool, "
     "but is an unknown dtype"},
    {{"IsInf", 1, 1, {"f32[2]", "u8[2]"}, {0}}, "result-dtype", 1, -1,
     "result 'y' must be bool, but is u8"},
    {{"IsFinite", 1, 1, {"i32[2]", "bool[2]"}, {0}}, "operand-dtype", 0, -1,
     "operand 'x' must be f32, f16, bf16 or f64, but is i32"},
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
     "operand-shape", 5, -1,
     "the sample kernel has 'pertoken_scale[0] == m', which does not hold for 1 and 2"},
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
     "the sample kernel has 'size(bias) == y[-1]', which does not hold for 16 and 4"},
    {{"MatMulV2", 4, 1, {"f16[2, 3]", "f16[3, 4]", "none", "i8[4]", "f32[2, 4]"}, {0}},
     "operand-form", 3, -1, "the sample kernel has no operand 'offset_w': it must be 'none'"},
    {{GMM,
      {"2 * f16[3, 3]", "2 * f16[3, 3]", EMPTY_4, "0 *", "none", "none", "f16[6, 3]"},
      {0}}, "operand-shape", 1, -1,
     "the sample kernel has 'count(y) == 1 ? ((count(weight) == 1 && rank(weight) == 3) ? "
     "weight[0] : count(weight)) <= 1 || split_item >= 2 : spl...', which does not hold"},
    {{GMM,
      {"2 * f16[3, 3]", "2 * f16[3, 3]", EMPTY_4, "0 *", "none", "none", "f16[6, 3]"},
      {"split_item=2", "group_type=2"}}, "operand-shape", 0, -1,
     "the sample kernel has 'group_type <= 0', which does not hold for 2 and 0"},
    {{GMM,
      {"2 * f16[3, 3]", "2 * f16[3, 3]", EMPTY_4, "0 *", "none", "none", "f16[6, 3]"},
      {"split_item=2", "group_list_type=2"}}, "operand-shape", 0, -1,
     "the sample kernel has 'group_list_type <= 1', which does not hold for 2 and 1"},
    {{GMM,
      {"2 * f16[3, 3]", "2 * f16[3, 3]", EMPTY_4, "0 *", "none", "none", "f16[6, 3]"},
      {"split_item=2", "transpose_x=1"}}, "operand-shape", 0, -1,
     "the sample kernel has 'transpose_x == 0', which does not hold for 1 and 0"},
    {{GMM,
      {"2 * f16[3, 3]", "2 * f16[3, 3]", EMPTY_4, "0 *", "none", "none", "f16[5, 3]"},
      {"split_item=2"}}, "operand-shape", 1, -1,
     "the sample kernel has 'count(y) > 1 ? count(x) == 1 || lengths(y, 0) == lengths(x, 0) : "
     "((count(weight) == 1 && rank(weight) == 3) ? weight[...', which does not hold"},
    {{"GroupedMatmul", 9, 2, {"2 * f16[3, 3]", "2 * f16[3, 3]", EMPTY_4, "0 *", NONES_2,
                             "f16[3, 3]", "f16[4, 3]"}, {0}}, "operand-shape", 0, -1,
     "the sample kernel has 'count(y) > 1 ? count(x) == 1 || lengths(y, 0) == lengths(x, 0) : "
     "((count(weight) == 1 && rank(weight) == 3) ? weight[...', which does not hold"},
    {{"GroupedMatmul", 9, 3, {"2 * f16[3, 3]", "2 * f16[3, 3]", EMPTY_4, "0 *", NONES_2,
                             "f16[3, 3]", "f16[3, 3]", "f16[3, 3]"}, {0}}, "result-shape", 9, -1,
     "the sample kernel has 'count(y) == 1 || count(y) == ((count(weight) == 1 && "
     "rank(weight) == 3) ? weight[0] : count(weight))', which does not hold"},
    {{"GroupedMatmul", 9, 2, {"2 * f16[3, 3]", "2 * f16[3, 3]", EMPTY_4, "0 *", NONES_2,
                             "f16[3, 3]", "f16[3, 3]"}, {"split_item=2"}}, "operand-shape", 0, -1,
     "the sample kernel has 'count(y) == 1 ? ((count(weight) == 1 && rank(weight) == 3) ? "
     "weight[0] : count(weight)) <= 1 || split_item >= 2 : spl...', which does not hold for 2 "
     "and 1"},
    {{GMM,
      {"2 * f16[3, 3]", "2 * f16[3, 3]", EMPTY_4, "0 *", "none", "none", "f16[6, 4]"},
      {"split_item=2"}}, "result-shape", 9, -1,
     "result 'y' of the sample kernel is [6, 4], but by 'y = [lengths(y, 0)[nth(y)], "
     "lengths(weight, rank(weight) - (transpose_weight ? 2 : 1))[(count(weight) == 1 && "
     "rank(we...' it is [6, 3]"},
    {{GMM,
      {"2 * f16[3, 3]", "2 * f16[3, 3]", EMPTY_4, "0 *", "i64[3]", "none", "f16[6, 3]"},
      {"split_item=2"}}, "operand-shape", 7, -1,
     "operand 'group_list' of the sample kernel is [3], but by 'group_list = [((count(weight) "
     "== 1 && rank(weight) == 3) ? weight[0] : count(weight))]' it is [2]"},
    {{GMM,
      {"2 * f16[3, 3]", "2 * f16[3, 3]", "2 * f16[3, 3]", EMPTY_4, "none", "none", "f16[6, 3]"},
      {"split_item=2"}}, "operand-shape", 2, -1,
     "operand 'bias' of the sample kernel is [3, 3], but by 'bias = count(bias) == 1 && "
     "rank(bias) == 2 ? [((count(weight) == 1 && rank(weight) == 3) ? weight[0] : "
     "count(weight))...' it is [3]"},
    {{GMM,
      {"2 * f16[3, 3]", "2 * f16[3, 3]", "0 *", "2 * f16[3, 3]", "0 *", "0 *", "0 *", NONES_2,
       "f16[6, 3]"},
      {"split_item=2"}}, "operand-form", 3, -1,
     "the sample kernel has no operand 'scale': it must be '[]'"},
    {{GMM,
      {"2 * f16[3, 2]", "2 * f16[3, 2]", EMPTY_4, "0 *", "none", "none", "f16[6, 2]"},
      {"split_item=2"}}, "operand-shape", 0, -1,
     "operand 'x' of the sample kernel is [3, 2], but by 'x = [lengths(x, 0)[nth(x)], "
     "lengths(weight, rank(weight) - (transpose_weight ? 1 : 2))[(count(weight) == 1 && "
     "rank(we...' it is [3, 3]"},
    {{GMM,
      {"2 * f16[3]", "2 * f16[3]", EMPTY_4, "0 *", "none", "none", "f16[6, 2]"},
      {"split_item=2"}}, "operand-shape", 1, -1,
     "the sample kernel has no dimension 1 of 1, of which 'weight = (count(weight) == 1 && "
     "rank(weight) == 3) ? weight : [lengths(weight, 0)[nth(weight)], lengths(weight, "
     "1)[nt...' speaks"},
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
    {{"RotaryMul", 3, 1, {"f16[2, 4]", "f16[1]", "f16[1]", "f16[2, 4]"}, {0}},
     "operand-shape", 1, -1,
     "the sample kernel has 'r1[-1] == x[-1]', which does not hold for 1 and 4"},
    {{"RotaryPositionEmbedding", 3, 1, {"f32[2, 4]", "f32[3, 4]", "f32[3, 4]", "f32[2, 4]"}, {0}},
     "operand-shape", 1, -1,
     "RotaryPositionEmbedding cannot broadcast [2, 4] and [3, 4] to one shape"},
    {{"RotaryPositionEmbedding", 3, 1, {"f32[2, 4]", "f32[4]", "f32[4]", "f32[2, 4]"}, {"mode=2"}},
     "operand-shape", 0, -1,
     "the sample kernel has 'mode <= 1', which does not hold for 2 and 1"},
    {{"AscendQuant", 1, 1, {"f16[4]", "i8[4]"}, {"scale=1", "offset=1", "round_mode='up"}},
     "operand-shape", 0, -1,
     "the sample kernel has 'round_mode == 'round' || round_mode == 'Round' || round_mode == "
     "'floor' || round_mode == 'Floor' || round_mode == 'ce...', which does not hold for "
     "round_mode = 'up'"},
    {{"AscendQuant", 1, 1, {"f16[4]", "i8[4]"}, {"scale=inf", "offset=1"}}, "attribute", -1, 0,
     "attribute \"scale\" of AscendQuant must be a finite number"},
    {{"AscendQuant", 1, 1, {"f16[4]", "i8[4]"}, {"scale=1", "offset=1", "round_mode=1"}},
     "attribute", -1, 2, "attribute \"round_mode\" of AscendQuant must be a text"},
    {{"AscendQuant", 1, 1, {"f16[4]", "i4[4]"}, {"scale=1", "offset=1"}}, "result-dtype", 1, -1,
     "result 'y' must be i8, but is i4"},
    {{"AscendQuantV2", 3, 1, {"f16[4, 3]", "f16[4]", "none", "i8[4, 3]"}, {0}},
     "operand-shape", 1, -1,
     "the sample kernel has 'size(scale) == 1 || size(scale) == x[axis]', which does not hold"},
    {{"AscendQuantV2", 3, 1, {"f16[4, 3]", "f16[4]", "none", "i8[4, 3]"}, {"axis=2"}},
     "operand-shape", 0, -1,
     "AscendQuantV2 has no dimension 2 of 2, of which 'has(x, axis)' speaks"},
    {{"AscendQuantV2", 3, 1, {"f16[4, 3]", "f16[1]", "none", "i8[4]"}, {0}}, "result-shape", 3, -1,
     "result 'y' of AscendQuantV2 is [4], but by 'y = x' it is [4, 3]"},
    {{"AscendDequant", 2, 1, {"i32[4, 3]", "f32[4]", "bf16[4, 3]"}, {0}}, "operand-shape", 1, -1,
     "the sample kernel has 'size(deq_scale) == 1 || size(deq_scale) == x[-1]', which does "
     "not hold"},
    {{"DynamicQuant", 3, 2, {"f16[4, 3]", "none", "none", "i8[4, 3]", "f32[4]"}, {"dst_type=29"}},
     "operand-shape", 0, -1,
     "the sample kernel has 'dst_type == 2', which does not hold for 29 and 2"},
    {{FAS, {"f16[2, 4, 48]", "f16[2, 5, 24]", "f16[2, 5, 24]", NONES_3, "none", NONES_5,
            "f32[2, 6, 4, 8]", "f32[2, 6, 4, 8]", "f16[0]", "f16[2, 4, 48]"},
      {"head_num=6", "input_layout='TND"}}, "operand-shape", 0, -1,
     "the sample kernel has 'input_layout == 'BSH' || input_layout == 'SBH' || input_layout "
     "== 'BNSD' || input_layout == 'BSND'', which does not hold for input_layout = 'TND'"},
    {{"ArgMaxD", 1, 1, {"f32[2, 0]", "i32[2]"}, {"dimension=1"}},
     "operand-shape", 0, -1, "ArgMaxD has 'x[dimension] > 0', which does not hold for 0 and 0"},
    {{"CumsumD", 1, 1, {"f32[2, 3]", "f32[2, 3]"}, {"axis=2"}},
     "operand-shape", 0, -1, "CumsumD has no dimension 2 of 2, of which 'x[axis] >= 0' speaks"},
    {{FAS, {"f16[2, 4, 48]", "f16[2, 5, 24]", "f16[2, 5, 24]", NONES_3, "none", NONES_5,
            "f32[2, 6, 4, 8]", "f32[2, 6, 4, 8]", "f16[0]", "f16[2, 4, 48]"},
      {"head_num=6", "input_layout='BNSD"}}, "operand-shape", 0, -1,
     "the sample kernel has 'rank(query) == (input_layout == 'BSH' || input_layout == 'SBH' ? "
     "3 : 4)', which does not hold for 3 and 4"},
    {{FAS, {"f16[2, 4, 48]", "f16[2, 5, 25]", "f16[2, 5, 25]", NONES_3, "none", NONES_5,
            "f32[2, 6, 4, 8]", "f32[2, 6, 4, 8]", "f16[0]", "f16[2, 4, 48]"},
      {"head_num=6", "input_layout='BSH"}}, "operand-shape", 0, -1,
     "the sample kernel has '(rank(query) == 3 ? key[2] % (rank(query) == 3 ? query[2] / "
     "head_num : query[3]) : key[3] - query[3]) == 0', which does not hold for 1 and 0"},
    {{FAS, {"f16[2, 4, 48]", "f16[2, 5, 24]", "f16[2, 5, 24]", NONES_3, "none", NONES_5,
            "f32[2, 5, 4, 8]", "f32[2, 5, 4, 8]", "f16[0]", "f16[2, 4, 48]"},
      {"head_num=5", "input_layout='BSH"}}, "operand-shape", 0, -1,
     "the sample kernel has '(rank(query) == 3 ? query[2] % head_num : query[input_layout == "
     "'BSND' ? 2 : 1] - head_num) == 0', which does not hold for 3 and 0"},
    {{FAS, {"f16[2, 4, 48]", "f16[3, 5, 24]", "f16[3, 5, 24]", NONES_3, "none", NONES_5,
            "f32[2, 6, 4, 8]", "f32[2, 6, 4, 8]", "f16[0]", "f16[2, 4, 48]"},
      {"head_num=6", "input_layout='BSH"}}, "operand-shape", 1, -1,
     "the sample kernel has 'key[input_layout == 'SBH' ? 1 : 0] == query[input_layout == "
     "'SBH' ? 1 : 0]', which does not hold for 3 and 2"},
    {{FAS, {"f16[2, 4, 48]", "f16[2, 5, 24]", "f16[2, 5, 24]", NONES_3, "none", NONES_5,
            "f32[2, 6, 4, 8]", "f32[2, 6, 4, 8]", "f16[1]", "f16[2, 4, 48]"},
      {"head_num=6", "input_layout='BSH"}}, "result-shape", 14, -1,
     "the sample kernel has 'size(softmax_out) == 0', which does not hold for 1 and 0"},
    {{FAS, {"f16[2, 4, 48]", "f16[2, 5, 24]", "f16[2, 5, 24]", NONES_3, "none", NONES_5,
            "f32[2, 6, 4, 8]", "f32[2, 6, 4, 8]", "f16[0]", "f16[2, 4, 48]"},
      {"head_num=6", "input_layout='BSH", "next_tockens=0"}}, "operand-shape", 1, -1,
     "the sample kernel has 'next_tockens >= key[input_layout == 'SBH' ? 0 : input_layout == "
     "'BNSD' ? 2 : 1]', which does not hold for 0 and 5"},
    {{FAS, {"f16[2, 4, 48]", "f16[2, 5, 24]", "f16[2, 5, 24]", NONES_3, "none", NONES_5,
            "f32[2, 6, 4, 8]", "f32[2, 6, 4, 8]", "f16[0]", "f16[2, 4, 48]"},
      {"head_num=6", "input_layout='BSH", "keep_prob=0.5", "pre_tockens=3"}},
     "attribute", -1, 2, "the sample kernel has \"keep_prob\" = 1 only"},
    {{FAS, {"f16[2, 4, 48]", "f16[2, 5, 24]", "f16[2, 5, 24]", NONES_3, "none", NONES_5,
            "f32[2, 6, 4, 8]", "f32[2, 6, 4, 8]", "f16[0]", "f16[2, 4, 48]"},
      {"head_num=6", "input_layout='BSH", "pre_tockens=3"}}, "operand-shape", 0, -1,
     "the sample kernel has 'pre_tockens >= query[input_layout == 'SBH' ? 0 : input_layout == "
     "'BNSD' ? 2 : 1]', which does not hold for 3 and 4"},
    {{FAS, {"f16[2, 4, 48]", "f16[2, 5, 24]", "f16[2, 5, 24]", NONES_3, "none", NONES_5,
            "f32[2, 6, 4, 8]", "f32[2, 6, 4, 8]", "f16[0]", "f16[2, 4, 48]"},
      {"head_num=5", "input_layout='BNSD"}}, "operand-shape", 0, -1,
     "the sample kernel has 'rank(query) == (input_layout == 'BSH' || input_layout == 'SBH' ? "
     "3 : 4)', which does not hold for 3 and 4"},
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_long_texts),
    };
    return cmocka_run_group_tests(tests, read_types, free_types);
}
