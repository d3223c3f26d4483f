/* The sample sub-kernels that multiply matrices against plain references. */
#include "tests/unit/kernel_harness.h"

skrt_kernel_fn mat_mul, quant_batch_matmul_v3_mix_aic, quant_batch_matmul_v3_mix_aiv;

/* ----------------------------------------------------------------------------- MatMul ---- */

/* Index of element (row, column) of a matrix [rows, columns] stored in FRACTAL_NZ. */
static int64_t nz_index(int64_t rows, size_t size, int64_t row, int64_t column)
{
    int64_t c0 = 32 / (int64_t)size, fractals = (rows + 15) / 16;
    return ((column / c0 * fractals + row / 16) * 16 + row % 16) * c0 + column % c0;
}

/* Changes the storage of a random matrix from ND to FRACTAL_NZ. */
static void op_to_nz(struct op *op, unsigned tensor)
{
    struct skrt_tensor *matrix = &op->tensors[tensor];
    size_t size = dtype_size(matrix->dtype), c0 = 32 / size;
    int64_t rows = matrix->dims[0], columns = matrix->dims[1];
    size_t bytes = ((size_t)columns + c0 - 1) / c0 * (((size_t)rows + 15) / 16) * 512;
    unsigned char *nz = calloc(1, bytes + GUARD);
    assert_non_null(nz);
    memset(nz + bytes, GUARD_BYTE, GUARD);
    for (int64_t row = 0; row < rows; row++)
        for (int64_t column = 0; column < columns; column++)
            memcpy(nz + (size_t)nz_index(rows, size, row, column) * size,
                   op->data[tensor] + (size_t)(row * columns + column) * size, size);
    free(op->data[tensor]);
    op->data[tensor] = nz;
    op->bytes[tensor] = bytes;
    matrix->format = SKRT_FRACTAL_NZ;
}

struct matmul_case {
    int64_t batch, m, k, n; /* batch 0: rank 2 */
    bool transpose_x1, transpose_x2, nz;
};

static const struct matmul_case matmul_cases[] = {
    {0, 1, 1, 1, false, false, false},      {0, 65, 129, 33, false, false, false},
    {0, 65, 129, 33, true, false, false},   {0, 65, 129, 33, false, true, false},
    {0, 67, 31, 45, true, true, false},     {3, 5, 17, 9, false, false, false},
    {3, 5, 17, 9, true, true, false},       {0, 5, 0, 9, false, false, false},
    {0, 0, 3, 9, false, false, false},      {0, 33, 70, 41, false, false, true},
    {0, 33, 70, 41, true, true, true},      {0, 130, 300, 70, false, false, false},
    {0, 261, 100, 140, false, true, false}, {0, 3, 97, 200, true, false, false},
};

/* The tensor's element (row, column) of a batch, whatever its format. */
static float matmul_element(const struct op *op, unsigned tensor, int64_t batch, int64_t row,
                            int64_t column)
{
    const struct skrt_tensor *matrix = &op->tensors[tensor];
    int64_t rows = matrix->dims[matrix->rank - 2], columns = matrix->dims[matrix->rank - 1];
    int64_t index = matrix->format == SKRT_FRACTAL_NZ
                        ? nz_index(rows, dtype_size(matrix->dtype), row, column)
                        : (batch * rows + row) * columns + column;
    return (float)op_get(op, tensor, index);
}

static void check_matmul(const struct op *op, const struct matmul_case *c)
{
    for (int64_t i = 0; i < op_elements(op, 2); i++) {
        int64_t batch = c->n > 0 && c->m > 0 ? i / (c->m * c->n) : 0;
        int64_t row = i / c->n % c->m, column = i % c->n;
        float sum = 0;
        for (int64_t k = 0; k < c->k; k++) {
            /* volatile: no fused multiply-add */
            volatile float product = (c->transpose_x1 ? matmul_element(op, 0, batch, k, row)
                                                      : matmul_element(op, 0, batch, row, k)) *
                                     (c->transpose_x2 ? matmul_element(op, 1, batch, column, k)
                                                      : matmul_element(op, 1, batch, k, column));
            sum += product;
        }
        assert_value(op_get(op, 2, i), round_to_dtype(sum, op->tensors[2].dtype), "y", i);
    }
}

static void run_matmul(const struct matmul_case *c, uint32_t dtype, uint32_t result)
{
    struct op op = {0};
    int64_t x1[] = {c->batch, c->transpose_x1 ? c->k : c->m, c->transpose_x1 ? c->m : c->k};
    int64_t x2[] = {c->batch, c->transpose_x2 ? c->n : c->k, c->transpose_x2 ? c->k : c->n};
    int64_t y[] = {c->batch, c->m, c->n};
    size_t skip = c->batch == 0;
    op_add_random(&op, dtype, 3 - skip, x1 + skip);
    op_add_random(&op, dtype, 3 - skip, x2 + skip);
    op_add(&op, result, 3 - skip, y + skip);
    if (c->nz) {
        op_to_nz(&op, 0);
        op_to_nz(&op, 1);
    }
    if (c->transpose_x1)
        op_add_attr(&op, "transpose_x1", 1);
    op_add_attr(&op, "transpose_x2", c->transpose_x2);
    op_run(&op, (struct subject){mat_mul, NULL}, 2);
    check_matmul(&op, c);
    op_free(&op);
}

static void run_matmuls(void)
{
    for (size_t c = 0; c < COUNT(matmul_cases); c++)
        for (size_t d = 0; d < 3; d++) {
            run_matmul(&matmul_cases[c], float_dtypes[d], float_dtypes[d]);
            if (d > 0)
                run_matmul(&matmul_cases[c], float_dtypes[d], SKRT_f32);
        }
}

/* The same bits at every vector level. */
static void test_matmul(void **state)
{
    (void)state;
    at_vector_levels(run_matmuls);
}

/* ----------------------------------------------------------------- QuantBatchMatmulV3 ---- */

/* With and without the optional operands. */
static void build_quant_matmul(struct op *op, int64_t m, int64_t k, int64_t n, uint32_t result,
                               bool bias, bool pertoken)
{
    op_add_random(op, SKRT_i8, DIMS(m, k));
    op_add_random(op, SKRT_i8, DIMS(k, n));
    op_add_random(op, SKRT_f32, DIMS(n));
    op_add_absent(op);
    if (bias)
        op_add_random(op, SKRT_i32, DIMS(n));
    else
        op_add_absent(op);
    if (pertoken)
        op_add_random(op, SKRT_f32, DIMS(m));
    else
        op_add_absent(op);
    op_add(op, result, DIMS(m, n));
    op->workspace = (size_t)(m * n) * 4;
}

static const struct subject quant_matmul = {quant_batch_matmul_v3_mix_aic,
                                            quant_batch_matmul_v3_mix_aiv};

static void check_quant_matmul(const struct op *op)
{
    int64_t m = op->tensors[0].dims[0], k = op->tensors[0].dims[1], n = op->tensors[1].dims[1];
    bool nz = op->tensors[1].format == SKRT_FRACTAL_NZ;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            int64_t sum = 0;
            for (int64_t l = 0; l < k; l++)
                sum += get_int(op->data[0], SKRT_i8, i * k + l) *
                       get_int(op->data[1], SKRT_i8, nz ? nz_index(k, 1, l, j) : l * n + j);
            if (op->tensors[4].form == SKRT_TENSOR)
                sum += get_int(op->data[4], SKRT_i32, j);
            float y = (float)(int32_t)(uint32_t)sum;
            y *= (float)op_get(op, 2, j);
            if (op->tensors[5].form == SKRT_TENSOR)
                y *= (float)op_get(op, 5, i);
            double expected = round_to_dtype(y, op->tensors[6].dtype);
            assert_value(op_get(op, 6, i * n + j), expected, "y", i * n + j);
        }
}

static void run_quant_matmuls(void)
{
    const int64_t shapes[][3] = {{1, 1, 1},    {3, 5, 7},      {4, 16, 32},   {129, 257, 65},
                                 {37, 300, 3}, {300, 19, 400}, {5, 0, 6},     {0, 5, 6},
                                 {5, 6, 0},    {2, 520, 127},  {1, 140000, 1}};
    for (size_t s = 0; s < COUNT(shapes); s++)
        for (int nz = 0; nz < 2; nz++) {
            struct op op = {0};
            build_quant_matmul(&op, shapes[s][0], shapes[s][1], shapes[s][2],
                               s % 2 == 0 ? SKRT_bf16 : SKRT_f16, s % 3 == 0, s % 4 != 1);
            if (nz)
                op_to_nz(&op, 1);
            op_run(&op, quant_matmul, 6);
            check_quant_matmul(&op);
            op_free(&op);
        }
}

static void test_quant_matmul(void **state)
{
    (void)state;
    at_vector_levels(run_quant_matmuls);
}

/* Built for one AIV, in a launch that has no more, and on both AIVs of one that has two. */
static void test_quant_matmul_for_one_aiv(void **state)
{
    (void)state;
    for (uint8_t launched = 1; launched <= 2; launched++)
        for (uint32_t blocks = 1; blocks <= 24; blocks += 23) {
            struct op op = {0};
            build_quant_matmul(&op, 129, 257, 65, SKRT_bf16, true, true);
            op_launch_as(&op, quant_matmul, blocks, (struct ratio){launched, 1});
            check_quant_matmul(&op);
            op_free(&op);
        }
}

/* 140000 products of 2^14 are more than 2^31: the sum wraps. */
static void run_quant_matmul_that_wraps(void)
{
    struct op op = {0};
    build_quant_matmul(&op, 2, 140000, 3, SKRT_bf16, false, true);
    memset(op.data[0], 0x80, op.bytes[0]);
    memset(op.data[1], 0x80, op.bytes[1]);
    op_run(&op, quant_matmul, 6);
    check_quant_matmul(&op);
    op_free(&op);
}

static void test_quant_matmul_wraps(void **state)
{
    (void)state;
    at_vector_levels(run_quant_matmul_that_wraps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matmul),
        cmocka_unit_test(test_quant_matmul),
        cmocka_unit_test(test_quant_matmul_for_one_aiv),
        cmocka_unit_test(test_quant_matmul_wraps),
    };
    return cmocka_run_group_tests(tests, suite_open, suite_close);
}
