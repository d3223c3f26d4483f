/* The signatures of the sample ops: what is accepted, and what else is known of them; what is
 * refused stands in test_sample_refusals.c. */
#include "tests/unit/accepted_ops.h"

#include "backend/kernels/nz.h"

static void test_accepted(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof accepted / sizeof accepted[0]; i++) {
        struct sample_op_error error;
        if (!op_check(&accepted[i], &error))
            fail_msg("%s (case %zu): %s", accepted[i].type, i, error.text);
    }
}

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
