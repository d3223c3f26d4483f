/* The sub-kernels that put elements elsewhere: what each makes of small tensors, and that numbers
 * which do not fit leave results alone. The elements of x are 0, 1, 2 and so on. */
#include "tests/unit/kernel_harness.h"

skrt_kernel_fn transpose, transpose_d, slice, slice_d, strided_slice, strided_slice_d, tile, tile_d;
skrt_kernel_fn broadcast_to, broadcast_to_d, fill, pad, pad_v3, gather, gather_v2, concat_v2, pack;
skrt_kernel_fn split_d, split_v, hcom_all_reduce;

enum { MOST = 12, MOST_INTS = 6, LEFT = -1 };

/* One op: x, operands of integers, what y is. LEFT in place of the first element of y: it is left
 * alone. */
struct move {
    skrt_kernel_fn *fn;
    struct {
        size_t rank;
        int64_t dims[3];
    } x, y;
    size_t operands; /* behind x */
    struct {
        int64_t count, at[MOST_INTS];
    } ints[3];
    const char *key, *key2; /* attributes */
    struct {
        uint64_t count;
        int64_t at[3];
    } list, list2;
    int16_t expected[MOST];
};

static const struct move moves[] = {
    {transpose, {2, {2, 3}}, {2, {3, 2}}, 1, {{2, {1, 0}}}, .expected = {0, 3, 1, 4, 2, 5}},
    {transpose, {2, {2, 3}}, {2, {3, 2}}, 1, {{2, {-1, -2}}}, .expected = {0, 3, 1, 4, 2, 5}},
    {transpose, {2, {2, 3}}, {2, {3, 2}}, 1, {{2, {0, 1}}}, .expected = {LEFT}},
    {transpose, {2, {2, 2}}, {2, {2, 2}}, 1, {{2, {1, 1}}}, .expected = {LEFT}},
    {transpose, {2, {2, 2}}, {2, {2, 2}}, 1, {{2, {1, 2}}}, .expected = {LEFT}},
    {transpose_d,
     {2, {2, 3}},
     {2, {3, 2}},
     .key = "perm",
     .list = {2, {1, 0}},
     .expected = {0, 3, 1, 4, 2, 5}},

    {slice, {2, {3, 3}}, {2, {2, 1}}, 2, {{2, {1, 2}}, {2, {2, 1}}}, .expected = {5, 8}},
    {slice, {2, {3, 3}}, {2, {2, 1}}, 2, {{2, {1, 2}}, {2, {-1, -1}}}, .expected = {5, 8}},
    {slice, {2, {3, 3}}, {2, {2, 1}}, 2, {{2, {0, 2}}, {2, {-1, 1}}}, .expected = {LEFT}},
    {slice, {2, {3, 3}}, {2, {2, 1}}, 2, {{2, {2, 2}}, {2, {2, 1}}}, .expected = {LEFT}},
    {slice, {2, {3, 3}}, {2, {2, 1}}, 2, {{2, {-1, 2}}, {2, {2, 1}}}, .expected = {LEFT}},
    {slice, {2, {3, 3}}, {2, {2, 1}}, 2, {{2, {INT64_MAX, 2}}, {2, {2, 1}}}, .expected = {LEFT}},
    {slice, {2, {3, 3}}, {2, {2, 1}}, 2, {{2, {1, 2}}, {2, {1, 2}}}, .expected = {LEFT}},
    {slice_d,
     {1, {5}},
     {1, {2}},
     .key = "offsets",
     .list = {1, {3}},
     .key2 = "size",
     .list2 = {1, {2}},
     .expected = {3, 4}},
    {slice_d,
     {1, {5}},
     {1, {2}},
     .key = "offsets",
     .list = {1, {4}},
     .key2 = "size",
     .list2 = {1, {2}},
     .expected = {LEFT}},

    {strided_slice, {1, {6}}, {1, {3}}, 3, {{1, {5}}, {1, {-7}}, {1, {-2}}}, .expected = {5, 3, 1}},
    {strided_slice, {1, {6}}, {1, {3}}, 3, {{1, {0}}, {1, {6}}, {1, {0}}}, .expected = {LEFT}},
    {strided_slice, {1, {6}}, {1, {3}}, 3, {{1, {0}}, {1, {6}}, {1, {3}}}, .expected = {LEFT}},
    {strided_slice,
     {1, {6}},
     {1, {6}},
     3,
     {{2, {0, 0}}, {2, {6, 6}}, {2, {1, 1}}},
     .expected = {LEFT}},
    {strided_slice,
     {1, {6}},
     {1, {1}},
     3,
     {{1, {0}}, {1, {6}}, {1, {INT64_MIN + 1}}},
     .expected = {LEFT}},
    {strided_slice, {1, {6}}, {1, {1}}, 3, {{1, {0}}, {1, {6}}, {1, {INT64_MAX}}}, .expected = {0}},
    {strided_slice_d,
     {1, {6}},
     {1, {2}},
     .key = "begin",
     .list = {1, {1}},
     .key2 = "end",
     .list2 = {1, {3}},
     .expected = {1, 2}},

    {tile, {1, {2}}, {1, {6}}, 1, {{1, {3}}}, .expected = {0, 1, 0, 1, 0, 1}},
    {tile, {1, {2}}, {1, {6}}, 1, {{1, {2}}}, .expected = {LEFT}},
    {tile, {1, {2}}, {1, {6}}, 1, {{1, {-3}}}, .expected = {LEFT}},
    {tile_d,
     {2, {1, 2}},
     {2, {2, 2}},
     .key = "multiples",
     .list = {2, {2, 1}},
     .expected = {0, 1, 0, 1}},

    {broadcast_to, {1, {3}}, {2, {2, 3}}, 1, {{2, {2, 3}}}, .expected = {0, 1, 2, 0, 1, 2}},
    {broadcast_to, {1, {3}}, {2, {2, 3}}, 1, {{2, {3, 2}}}, .expected = {LEFT}},
    {broadcast_to, {1, {2}}, {2, {2, 3}}, 1, {{2, {2, 3}}}, .expected = {LEFT}},
    {broadcast_to_d,
     {2, {2, 1}},
     {2, {2, 3}},
     .key = "shape",
     .list = {2, {2, -1}},
     .expected = {0, 0, 0, 1, 1, 1}},

    {pad, {1, {2}}, {1, {5}}, 1, {{2, {1, 2}}}, .expected = {0, 0, 1, 0, 0}},
    {pad, {1, {2}}, {1, {5}}, 1, {{2, {1, 1}}}, .expected = {LEFT}},
    {pad, {1, {2}}, {1, {5}}, 1, {{2, {-1, 4}}}, .expected = {LEFT}},
    {pad, {1, {2}}, {1, {5}}, 1, {{2, {INT64_MAX, 2}}}, .expected = {LEFT}},

    {gather, {2, {3, 2}}, {2, {2, 2}}, 1, {{2, {2, 0}}}, .expected = {4, 5, 0, 1}},
    {gather, {2, {3, 2}}, {2, {2, 2}}, 1, {{2, {3, -1}}}, .expected = {LEFT}},
    {gather,
     {2, {3, 2}},
     {2, {1, 2}},
     1,
     {{1, {-1}}},
     .key = "negative_index_support",
     .list = {0, {1}},
     .expected = {4, 5}},
    {gather, {2, {3, 2}}, {2, {3, 2}}, 1, {{2, {2, 0}}}, .expected = {LEFT}},
    {gather_v2, {2, {2, 3}}, {2, {2, 2}}, 2, {{2, {2, 0}}, {1, {1}}}, .expected = {2, 0, 5, 3}},
    {gather_v2, {2, {2, 3}}, {2, {2, 2}}, 2, {{2, {2, 0}}, {1, {-1}}}, .expected = {2, 0, 5, 3}},
    {gather_v2, {2, {2, 3}}, {2, {2, 2}}, 2, {{2, {2, 0}}, {1, {2}}}, .expected = {LEFT}},

    {hcom_all_reduce, {1, {3}}, {1, {3}}, .expected = {0, 1, 2}},
};

/* A list of none is one number. */
static void add_list(struct op *op, const char *key, uint64_t count, const int64_t *at)
{
    if (!key)
        return;
    op_add_attr(op, key, (double)at[0]);
    op->attrs[op->n_attrs - 1].ints = count ? at : NULL;
    op->attrs[op->n_attrs - 1].count = count;
}

static void fill_x(struct op *op, unsigned tensor)
{
    for (int64_t i = 0; i < op_elements(op, tensor); i++)
        put_int(op->data[tensor], op->tensors[tensor].dtype, i, i);
}

static void check_left(const struct op *op, unsigned first)
{
    for (unsigned t = first; t < op->n_tensors; t++)
        for (size_t at = 0; at < op->bytes[t]; at++)
            assert_int_equal(op->data[t][at], 0xa5);
}

static void check_move(const struct move *move, uint32_t dtype, uint32_t ints)
{
    struct op op = {0};
    fill_x(&op, op_add(&op, dtype, move->x.rank, move->x.dims));
    for (size_t i = 0; i < move->operands; i++) {
        unsigned t = op_add(&op, ints, 1, &move->ints[i].count);
        for (int64_t n = 0; n < move->ints[i].count; n++)
            put_int(op.data[t], ints, n, move->ints[i].at[n]);
    }
    unsigned y = op_add(&op, dtype, move->y.rank, move->y.dims);
    add_list(&op, move->key, move->list.count, move->list.at);
    add_list(&op, move->key2, move->list2.count, move->list2.at);
    if (move->expected[0] == LEFT) {
        op_launch(&op, (struct subject){NULL, move->fn}, 3);
        check_left(&op, y);
    } else {
        op_run(&op, (struct subject){NULL, move->fn}, y);
        for (int64_t i = 0; i < op_elements(&op, y); i++)
            assert_int_equal(get_int(op.data[y], dtype, i), move->expected[i]);
    }
    op_free(&op);
}

static void test_moves(void **state)
{
    (void)state;
    const uint32_t dtypes[] = {SKRT_i8, SKRT_i16, SKRT_i32, SKRT_i64};
    for (size_t i = 0; i < COUNT(moves); i++)
        for (size_t d = 0; d < COUNT(dtypes); d++)
            check_move(&moves[i], dtypes[d], SKRT_i64);
}

/* A row of an index outside stays as it was, the others come. */
static void test_gather_outside(void **state)
{
    (void)state;
    const int32_t indices[] = {1, 7, 0};
    struct op op = {0};
    fill_x(&op, op_add(&op, SKRT_i16, DIMS(2, 2)));
    op_add(&op, SKRT_i32, DIMS(3));
    memcpy(op.data[1], indices, sizeof indices);
    op_add(&op, SKRT_i16, DIMS(3, 2));
    op_launch(&op, (struct subject){NULL, gather}, 2);
    const int16_t expected[] = {2, 3, (int16_t)0xa5a5, (int16_t)0xa5a5, 0, 1};
    assert_memory_equal(op.data[2], expected, sizeof expected);
    op_free(&op);
}

static void test_fill(void **state)
{
    (void)state;
    for (int64_t wrong = 0; wrong < 2; wrong++) {
        struct op op = {0};
        op_add(&op, SKRT_i64, DIMS(2));
        op_add_random(&op, SKRT_f32, 0, NULL);
        op_add(&op, SKRT_f32, DIMS(5, 300));
        put_int(op.data[0], SKRT_i64, 0, 5);
        put_int(op.data[0], SKRT_i64, 1, 300 + wrong);
        if (wrong) {
            op_launch(&op, (struct subject){NULL, fill}, 3);
            check_left(&op, 2);
        } else {
            op_run(&op, (struct subject){NULL, fill}, 2);
            for (int64_t i = 0; i < 1500; i++)
                assert_memory_equal(op.data[2] + 4 * i, op.data[1], 4);
        }
        op_free(&op);
    }
}

/* x is [3, 2]; the value 7, or what the mode takes. */
static void check_pad_v3(const char *mode, const int16_t *expected)
{
    const int64_t paddings[] = {0, 0, 1, 1};
    struct op op = {0};
    fill_x(&op, op_add(&op, SKRT_i16, DIMS(1, 2)));
    op_add(&op, SKRT_i64, DIMS(4));
    memcpy(op.data[1], paddings, sizeof paddings);
    put_int(op.data[op_add(&op, SKRT_i16, DIMS(1))], SKRT_i16, 0, 7);
    op_add(&op, SKRT_i16, DIMS(1, 4));
    op_add_attr(&op, "mode", 0);
    op.attrs[0].text = mode;
    op_launch(&op, (struct subject){NULL, pad_v3}, 2);
    assert_memory_equal(op.data[3], expected, 8);
    op_free(&op);
}

static void test_pad_modes(void **state)
{
    (void)state;
    check_pad_v3("constant", (const int16_t[]){7, 0, 1, 7});
    check_pad_v3("reflect", (const int16_t[]){1, 0, 1, 0});
    check_pad_v3("edge", (const int16_t[]){0, 0, 1, 1});
}

/* Two tensors of [2, 2], along an axis of y. */
static void check_join(skrt_kernel_fn *fn, struct op *op, const int16_t *expected)
{
    unsigned y = op->n_tensors - 1;
    op_run(op, (struct subject){NULL, fn}, y);
    for (int64_t i = 0; i < 8; i++)
        assert_int_equal(get_int(op->data[y], SKRT_i16, i), expected[i]);
}

static void test_joins(void **state)
{
    (void)state;
    struct op parts = {0}, op = {0};
    fill_x(&parts, op_add(&parts, SKRT_i16, DIMS(2, 2)));
    fill_x(&parts, op_add(&parts, SKRT_i16, DIMS(2, 2)));
    put_int(parts.data[1], SKRT_i16, 3, 9);
    op_add_list(&op, &parts, 0, 2);
    op_add(&op, SKRT_i64, 0, NULL);
    op_add(&op, SKRT_i16, DIMS(2, 4));
    put_int(op.data[1], SKRT_i64, 0, -1);
    check_join(concat_v2, &op, (const int16_t[]){0, 1, 0, 1, 2, 3, 2, 9});
    put_int(op.data[1], SKRT_i64, 0, 2);
    memset(op.data[2], 0xa5, op.bytes[2]);
    op_launch(&op, (struct subject){NULL, concat_v2}, 2);
    check_left(&op, 2);
    op_free(&op);

    op_add_list(&op, &parts, 0, 2);
    op_add(&op, SKRT_i16, DIMS(2, 2, 2));
    op_add_attr(&op, "axis", -1);
    check_join(pack, &op, (const int16_t[]){0, 0, 1, 1, 2, 2, 3, 9});
    op_free(&op);
    op_free(&parts);
}

/* Splits x [2, 5] in [2, 2] and [2, 3]. */
static void check_split(skrt_kernel_fn *fn, const int64_t *sizes, int64_t axis, bool right)
{
    const int16_t first[] = {0, 1, 5, 6}, second[] = {2, 3, 4, 7, 8, 9};
    struct op op = {0};
    fill_x(&op, op_add(&op, SKRT_i16, DIMS(2, 5)));
    if (sizes) {
        op_add(&op, SKRT_i64, DIMS(2));
        op_add(&op, SKRT_i64, DIMS(1));
        memcpy(op.data[1], sizes, 2 * sizeof *sizes);
        put_int(op.data[2], SKRT_i64, 0, axis);
    }
    op_add_attr(&op, "split_dim", (double)axis);
    op.tiling_at = op.n_tensors;
    unsigned y = op_add(&op, SKRT_i16, DIMS(2, 2));
    op_add(&op, SKRT_i16, DIMS(2, 3));
    if (right) {
        op_run(&op, (struct subject){NULL, fn}, y);
        assert_memory_equal(op.data[y], first, sizeof first);
        assert_memory_equal(op.data[y + 1], second, sizeof second);
    } else {
        op_launch(&op, (struct subject){NULL, fn}, 2);
        check_left(&op, y);
    }
    op_free(&op);
}

static void test_splits(void **state)
{
    (void)state;
    const int64_t sizes[][2] = {{2, 3}, {-1, 3}, {3, 2}};
    check_split(split_d, NULL, 1, true);
    check_split(split_d, NULL, -1, true);
    check_split(split_d, NULL, 0, false);
    check_split(split_d, NULL, 2, false);
    check_split(split_v, sizes[0], 1, true);
    check_split(split_v, sizes[1], -1, true);
    check_split(split_v, sizes[2], 1, false);
    check_split(split_v, sizes[0], -3, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moves), cmocka_unit_test(test_gather_outside),
        cmocka_unit_test(test_fill),  cmocka_unit_test(test_pad_modes),
        cmocka_unit_test(test_joins), cmocka_unit_test(test_splits),
    };
    return cmocka_run_group_tests(tests, suite_open, suite_close);
}
