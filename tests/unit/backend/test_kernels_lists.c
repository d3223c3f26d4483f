/* The sample sub-kernels with operands that are lists or absent against plain references. */
#include "tests/unit/kernel_harness.h"

skrt_kernel_fn add_n, concat_d, fused_infer_attention_score;

/* ------------------------------------------------------------------------------- AddN ---- */

static void run_add_n(uint32_t dtype, int64_t rows, int64_t columns, unsigned count)
{
    struct op parts = {0}, op = {0};
    for (unsigned i = 0; i < count; i++)
        op_add_random(&parts, dtype, DIMS(rows, columns));
    op_add_list(&op, &parts, 0, count);
    op_add(&op, dtype, DIMS(rows, columns));
    op_run(&op, (struct subject){NULL, add_n}, 1);
    for (int64_t i = 0; i < rows * columns; i++) {
        float sum = 0;
        uint64_t whole = 0;
        for (unsigned t = 0; t < count; t++) {
            sum = t ? sum + (float)op_get(&parts, t, i) : (float)op_get(&parts, t, i);
            whole += is_float(dtype) ? 0 : (uint64_t)get_int(parts.data[t], dtype, i);
        }
        if (is_float(dtype))
            assert_value(op_get(&op, 1, i), round_to_dtype(sum, dtype), "y", i);
        else
            assert_int_equal((int32_t)get_int(op.data[1], dtype, i), (int32_t)whole);
    }
    op_free(&op);
    op_free(&parts);
}

static void test_add_n(void **state)
{
    (void)state;
    for (unsigned count = 1; count < 6; count++) {
        for (size_t d = 0; d < COUNT(float_dtypes); d++)
            run_add_n(float_dtypes[d], 37, 19, count);
        run_add_n(SKRT_i32, 5, 300, count);
        run_add_n(SKRT_f32, 0, 3, count);
    }
}

/* ---------------------------------------------------------------------------- ConcatD ---- */

/* Tensors [outer, sizes[i], inner] along their middle. */
static void run_concat(uint32_t dtype, int64_t outer, const int64_t *sizes, unsigned count,
                       int64_t inner)
{
    struct op parts = {0}, op = {0};
    int64_t total = 0;
    for (unsigned i = 0; i < count; i++) {
        op_add_random(&parts, dtype, DIMS(outer, sizes[i], inner));
        total += sizes[i];
    }
    op_add_list(&op, &parts, 0, count);
    op_add(&op, dtype, DIMS(outer, total, inner));
    op_add_attr(&op, "concat_dim", outer % 2 ? 1 : -2);
    op_run(&op, (struct subject){NULL, concat_d}, 1);
    size_t size = dtype_size(dtype);
    for (int64_t o = 0, at = 0; o < outer; o++)
        for (unsigned t = 0; t < count; t++) {
            size_t bytes = (size_t)(sizes[t] * inner) * size;
            assert_memory_equal(op.data[1] + at, parts.data[t] + (size_t)o * bytes, bytes);
            at += (int64_t)bytes;
        }
    op_free(&op);
    op_free(&parts);
}

static void test_concat(void **state)
{
    (void)state;
    const int64_t sizes[] = {3, 0, 1, 17, 2};
    const uint32_t dtypes[] = {SKRT_f32, SKRT_f16, SKRT_i8, SKRT_i64};
    for (size_t d = 0; d < COUNT(dtypes); d++) {
        run_concat(dtypes[d], 1, sizes, 5, 1);
        run_concat(dtypes[d], 6, sizes, 5, 7);
        run_concat(dtypes[d], 3, sizes, 1, 5);
        run_concat(dtypes[d], 0, sizes, 2, 5);
        run_concat(dtypes[d], 4, sizes + 1, 1, 5);
    }
}

/* ------------------------------------------------------------ FusedInferAttentionScore ---- */

struct attention {
    int64_t batches, heads, shared, rows, keys, depth;
    bool bsh, list, mask;
    uint32_t dtype;
};

enum { QUERY, KEY, VALUE, MASK = 4, OUT = 31, LSE };

static int64_t element(const struct attention *a, int64_t batch, int64_t head, int64_t row,
                       int64_t column, int64_t heads, int64_t rows)
{
    return a->bsh ? ((batch * rows + row) * heads + head) * a->depth + column
                  : ((batch * heads + head) * rows + row) * a->depth + column;
}

static void add_tensor(struct op *op, const struct attention *a, int64_t batches, int64_t heads,
                       int64_t rows)
{
    if (a->bsh)
        op_add_random(op, a->dtype, DIMS(batches, rows, heads * a->depth));
    else
        op_add_random(op, a->dtype, DIMS(batches, heads, rows, a->depth));
}

/* Keys, then values. */
static double cached(const struct attention *a, const struct op *parts, bool value, int64_t batch,
                     int64_t head, int64_t row, int64_t column)
{
    unsigned count = parts->n_tensors / 2, first = value ? count : 0;
    int64_t own = a->list ? 0 : batch;
    return op_get(parts, first + (a->list ? (unsigned)batch : 0),
                  element(a, own, head, row, column, a->shared, a->keys));
}

static double score(const struct attention *a, const struct op *op, const struct op *parts,
                    int64_t batch, int64_t head, int64_t row, int64_t key)
{
    double sum = 0;
    if (a->mask && op->data[MASK][row * a->keys + key])
        return -INFINITY;
    for (int64_t i = 0; i < a->depth; i++)
        sum += op_get(op, QUERY, element(a, batch, head, row, i, a->heads, a->rows)) *
               cached(a, parts, false, batch, head / (a->heads / a->shared), key, i);
    return sum * 0.25;
}

/* Two passes over all keys, in double. */
static void check_row(const struct attention *a, const struct op *op, const struct op *parts,
                      int64_t batch, int64_t head, int64_t row)
{
    double max = -INFINITY, sum = 0;
    for (int64_t key = 0; key < a->keys; key++)
        max = fmax(max, score(a, op, parts, batch, head, row, key));
    for (int64_t key = 0; key < a->keys && max > -INFINITY; key++)
        sum += exp(score(a, op, parts, batch, head, row, key) - max);
    double lse = op_get(op, LSE, (batch * a->heads + head) * a->rows + row);
    if (sum > 0 ? fabs(lse - max - log(sum)) > 1e-4 : lse != -INFINITY)
        fail_msg("lse is %g, expected %g", lse, max + log(sum));
    for (int64_t i = 0; i < a->depth; i++) {
        double expected = 0;
        for (int64_t key = 0; key < a->keys && sum > 0; key++)
            expected += exp(score(a, op, parts, batch, head, row, key) - max) / sum *
                        cached(a, parts, true, batch, head / (a->heads / a->shared), key, i);
        double found = op_get(op, OUT, element(a, batch, head, row, i, a->heads, a->rows));
        double ulp = a->dtype == SKRT_bf16 ? 0x1p-8 : a->dtype == SKRT_f16 ? 0x1p-11 : 1e-5;
        if (!(fabs(found - expected) <= fabs(expected) * ulp + 1e-4))
            fail_msg("out is %g, expected %g", found, expected);
    }
}

static void run_attention(const struct attention *a)
{
    struct op parts = {0}, op = {0};
    unsigned count = a->list ? (unsigned)a->batches : 1;
    for (unsigned i = 0; i < 2 * count; i++)
        add_tensor(&parts, a, a->list ? 1 : a->batches, a->shared, a->keys);
    add_tensor(&op, a, a->batches, a->heads, a->rows);
    op_add_list(&op, &parts, 0, count);
    op_add_list(&op, &parts, count, count);
    op_add_absent(&op);
    if (a->mask) {
        op_add(&op, SKRT_bool, DIMS(a->rows, a->keys));
        for (int64_t i = 0; i < a->rows * a->keys; i++) /* all keys of row 1 are left out */
            op.data[MASK][i] = i / a->keys == 1 || random_bits() % 3 == 0;
    }
    while (op.n_tensors < OUT)
        op_add_absent(&op);
    add_tensor(&op, a, a->batches, a->heads, a->rows);
    op_add(&op, SKRT_f32, DIMS(a->batches, a->heads, a->rows, 1));
    op_add_attr(&op, "num_heads", (double)a->heads);
    op_add_attr(&op, "num_key_value_heads", a->shared == a->heads ? 0 : (double)a->shared);
    op_add_attr(&op, "scale", 0.25);
    op_run(&op, (struct subject){NULL, fused_infer_attention_score}, OUT);
    for (int64_t i = 0; i < a->batches * a->heads * a->rows; i++)
        check_row(a, &op, &parts, i / a->rows / a->heads, i / a->rows % a->heads, i % a->rows);
    op_free(&op);
    op_free(&parts);
}

static void test_attention(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 8; bits++)
        for (size_t d = 0; d < COUNT(float_dtypes); d++) {
            struct attention a = {.batches = 2,
                                  .heads = 4,
                                  .shared = bits & 1 ? 2 : 4,
                                  .rows = 3,
                                  .keys = 11,
                                  .depth = 8,
                                  .bsh = bits & 1,
                                  .list = bits & 2,
                                  .mask = bits & 4,
                                  .dtype = float_dtypes[d]};
            run_attention(&a);
            a = (struct attention){1, 1, 1, 1, 1, 1, bits & 1, bits & 2, false, float_dtypes[d]};
            run_attention(&a);
            a.keys = 0;
            run_attention(&a);
        }
}

/* ------------------------------------------------------------------------------ lists ---- */

/* The table of a list, read as a kernel does. */
static void test_table(void **state)
{
    (void)state;
    struct op parts = {0}, op = {0};
    const int64_t *dims;
    op_add_random(&parts, SKRT_f32, DIMS(2, 3));
    op_add_random(&parts, SKRT_f32, 0, NULL);
    op_add_random(&parts, SKRT_i8, DIMS(7));
    op_add_list(&op, &parts, 0, 3);
    op_add_list(&op, &parts, 0, 0);
    const uint64_t *table = (const uint64_t *)op.data[0];
    assert_int_equal(skrt_list_count(table), 3);
    assert_int_equal(skrt_list_shape(table, 0, &dims), 2);
    assert_int_equal(dims[0], 2);
    assert_int_equal(dims[1], 3);
    assert_int_equal(skrt_list_shape(table, 1, &dims), 0);
    assert_int_equal(skrt_list_shape(table, 2, &dims), 1);
    assert_int_equal(dims[0], 7);
    for (unsigned i = 0; i < 3; i++)
        assert_ptr_equal(skrt_list_address(table, i), parts.data[i]);
    assert_int_equal(skrt_list_count((const uint64_t *)op.data[1]), 0);
    op_free(&op);
    op_free(&parts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_add_n),
        cmocka_unit_test(test_concat),
        cmocka_unit_test(test_attention),
        cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, suite_open, suite_close);
}
