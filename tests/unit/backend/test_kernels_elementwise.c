/* The families of element-wise sub-kernels against plain references. */
#include "tests/unit/kernel_harness.h"

skrt_kernel_fn sub, div_op, real_div, floor_div, floor_mod, mod, maximum, minimum, pow_op;
skrt_kernel_fn squared_difference, equal, not_equal, greater, greater_equal, less, less_equal;
skrt_kernel_fn logical_and, logical_or, logical_not, neg, abs_op, square, relu, sign, adds, muls;
skrt_kernel_fn exp_op, expm1_op, log_op, log1p_op, sqrt_op, rsqrt, reciprocal, sin_op, cos_op;
skrt_kernel_fn tanh_op, erf_op, floor_op, ceil_op, round_op, sigmoid, softplus, gelu, gelu_v2;
skrt_kernel_fn fast_gelu, swish, leaky_relu, is_nan, select_op, select_v2, clip_by_value;
skrt_kernel_fn assign_add, assign_sub, pows, softmax;

/* Shapes [5, 300] and [300] to [5, 300]: each block has rows and parts of rows. */
enum { ROWS = 5, COLUMNS = 300, ELEMENTS = ROWS * COLUMNS };
static const int64_t whole[] = {ROWS, COLUMNS}, row[] = {COLUMNS}, column[] = {ROWS, 1};

static const uint32_t number_dtypes[] = {SKRT_f32, SKRT_f16, SKRT_bf16,
                                         SKRT_i8,  SKRT_i32, SKRT_i64};

/* Within so many units in the last place of f32, before it is rounded. */
static void assert_ulps(double found, double expected, double ulps, uint32_t dtype, int64_t at)
{
    double room = ulps * fmax(fabs(expected), 1) * 0x1p-23;
    double low = round_to_dtype(expected - room, dtype),
           high = round_to_dtype(expected + room, dtype);
    if (isnan(expected) ? isnan(found) : found == expected || (found >= low && found <= high))
        return;
    fail_msg("element %" PRId64 " is %.9g, not %.9g", at, found, expected);
}

/* ------------------------------------------------------------------------ one operand ---- */

struct unary_case {
    skrt_kernel_fn *fn;
    double (*reference)(double x);
    double ulps;
    const char *key;
    double value;
};

#define REFERENCE(name, expression)                                                                \
    static double name##_of(double x)                                                              \
    {                                                                                              \
        return expression;                                                                         \
    }

REFERENCE(neg, -x)
REFERENCE(square, x *x)
REFERENCE(relu, x > 0 ? x : 0)
REFERENCE(sign, (x > 0) - (x < 0))
REFERENCE(plus, x + -0.75)
REFERENCE(times, x * -0.75)
REFERENCE(rsqrt, 1 / sqrt(x))
REFERENCE(reciprocal, 1 / x)
REFERENCE(sigmoid, 1 / (1 + exp(-x)))
REFERENCE(softplus, log(1 + exp(x)))
REFERENCE(gelu, 0.5 * x * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x))))
REFERENCE(gelu_exact, 0.5 * x * (1 + erf(x / sqrt(2))))
REFERENCE(fast_gelu, x / (1 + exp(-1.702 * x)))
REFERENCE(swish, x / (1 + exp(-x)))
REFERENCE(swish_half, x / (1 + exp(0.5 * x)))
REFERENCE(leaky, x >= 0 ? x : x * 0.25)

static const struct unary_case unary_cases[] = {
    {neg, neg_of, 0, NULL, 0},
    {abs_op, fabs, 0, NULL, 0},
    {square, square_of, 0, NULL, 0},
    {relu, relu_of, 0, NULL, 0},
    {sign, sign_of, 0, NULL, 0},
    {adds, plus_of, 0, "value", -0.75},
    {muls, times_of, 0, "value", -0.75},
    {exp_op, exp, 1, NULL, 0},
    {expm1_op, expm1, 1, NULL, 0},
    {log_op, log, 1, NULL, 0},
    {log1p_op, log1p, 1, NULL, 0},
    {sqrt_op, sqrt, 0, NULL, 0},
    {rsqrt, rsqrt_of, 2, NULL, 0},
    {reciprocal, reciprocal_of, 0, NULL, 0},
    {sin_op, sin, 1, NULL, 0},
    {cos_op, cos, 1, NULL, 0},
    {tanh_op, tanh, 2, NULL, 0},
    {erf_op, erf, 1, NULL, 0},
    {floor_op, floor, 0, NULL, 0},
    {ceil_op, ceil, 0, NULL, 0},
    {round_op, rint, 0, NULL, 0},
    {sigmoid, sigmoid_of, 3, NULL, 0},
    {softplus, softplus_of, 3, NULL, 0},
    {gelu, gelu_of, 4, NULL, 0},
    {gelu_v2, gelu_exact_of, 1, NULL, 0},
    {fast_gelu, fast_gelu_of, 3, NULL, 0},
    {swish, swish_of, 3, NULL, 0},
    {swish, swish_half_of, 3, "scale", -0.5},
    {leaky_relu, leaky_of, 0, "negative_slope", 0.25},
};

static void check_unary(const struct unary_case *test, uint32_t dtype)
{
    struct op op = {0};
    op_add_random(&op, dtype, 2, whole);
    op_add(&op, dtype, 2, whole);
    if (test->key)
        op_add_attr(&op, test->key, test->value);
    op_run(&op, (struct subject){NULL, test->fn}, 1);
    for (int64_t i = 0; i < ELEMENTS; i++)
        assert_ulps(op_get(&op, 1, i), test->reference(op_get(&op, 0, i)), test->ulps, dtype, i);
    op_free(&op);
}

static void test_unary(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(unary_cases); i++)
        for (size_t d = 0; d < COUNT(float_dtypes); d++)
            check_unary(&unary_cases[i], float_dtypes[d]);
}

/* Integers wrap. */
static void test_unary_ints(void **state)
{
    (void)state;
    static const struct {
        skrt_kernel_fn *fn;
        int64_t y[6];
    } cases[] = {
        {neg, {0, -1, 1, -100, 127, -128}}, {abs_op, {0, 1, 1, 100, 127, -128}},
        {square, {0, 1, 1, 16, 1, 0}},      {relu, {0, 1, 0, 100, 0, 0}},
        {sign, {0, 1, -1, 1, -1, -1}},      {adds, {100, 101, 99, -56, -27, -28}},
        {muls, {0, 100, -100, 16, 100, 0}},
    };
    const int64_t x[] = {0, 1, -1, 100, -127, -128};
    for (size_t c = 0; c < COUNT(cases); c++) {
        struct op op = {0};
        op_add(&op, SKRT_i8, DIMS(6));
        op_add(&op, SKRT_i8, DIMS(6));
        op_add_attr(&op, "value", 100);
        for (int64_t i = 0; i < 6; i++)
            put_int(op.data[0], SKRT_i8, i, x[i]);
        op_run(&op, (struct subject){NULL, cases[c].fn}, 1);
        for (int64_t i = 0; i < 6; i++)
            assert_int_equal(get_int(op.data[1], SKRT_i8, i), cases[c].y[i]);
        op_free(&op);
    }
}

/* ----------------------------------------------------------------------- two operands ---- */

struct binary_case {
    skrt_kernel_fn *fn;
    double (*reference)(double a, double b);
    bool floats, ints; /* that it takes */
    bool truth;        /* y is bool */
};

#define REFERENCE2(name, expression)                                                               \
    static double name##_of(double a, double b)                                                    \
    {                                                                                              \
        return expression;                                                                         \
    }

REFERENCE2(sub, a - b)
REFERENCE2(quotient, b == 0 ? 0 : trunc(a / b))
REFERENCE2(real_div, a / b)
REFERENCE2(floor_div, b == 0 ? 0 : floor(a / b))
REFERENCE2(floor_mod, b == 0 ? 0 : a - b * floor(a / b))
REFERENCE2(rest, b == 0 ? 0 : fmod(a, b))
REFERENCE2(power, (float)pow(a, b))
REFERENCE2(squared, (float)(a - b) * (float)(a - b))
REFERENCE2(equal, a == b)
REFERENCE2(not_equal, a != b)
REFERENCE2(greater, a > b)
REFERENCE2(greater_equal, a >= b)
REFERENCE2(less, a < b)
REFERENCE2(less_equal, a <= b)
REFERENCE2(both, a != 0 && b != 0)
REFERENCE2(either, a != 0 || b != 0)

static const struct binary_case binary_cases[] = {
    {sub, sub_of, true, true, false},
    {div_op, real_div_of, true, false, false},
    {div_op, quotient_of, false, true, false},
    {real_div, real_div_of, true, false, false},
    {floor_div, floor_div_of, false, true, false},
    {floor_mod, floor_mod_of, false, true, false},
    {mod, rest_of, true, true, false},
    {maximum, fmax, true, true, false},
    {minimum, fmin, true, true, false},
    {pow_op, power_of, true, false, false},
    {squared_difference, squared_of, true, false, false},
    {equal, equal_of, true, true, true},
    {not_equal, not_equal_of, true, true, true},
    {greater, greater_of, true, true, true},
    {greater_equal, greater_equal_of, true, true, true},
    {less, less_of, true, true, true},
    {less_equal, less_equal_of, true, true, true},
};

/* Integers that make no double inexact. */
static void fill_small(struct op *op, unsigned tensor)
{
    if (is_float(op->tensors[tensor].dtype))
        return;
    for (int64_t i = 0; i < op_elements(op, tensor); i++)
        put_int(op->data[tensor], op->tensors[tensor].dtype, i,
                (int64_t)(random_bits() % 127) - 63);
}

static void check_two(const struct binary_case *test, uint32_t dtype)
{
    uint32_t result = test->truth ? SKRT_bool : dtype;
    struct op op = {0};
    op_add_random(&op, dtype, 2, whole);
    op_add_random(&op, dtype, 1, row);
    op_add(&op, result, 2, whole);
    fill_small(&op, 0);
    fill_small(&op, 1);
    op_run(&op, (struct subject){NULL, test->fn}, 2);
    for (int64_t i = 0; i < ELEMENTS; i++) {
        double a = op_get(&op, 0, i), b = op_get(&op, 1, i % COLUMNS);
        double found = op_get(&op, 2, i), expected = test->reference(a, b);
        if (is_float(result))
            assert_ulps(found, expected, test->fn == pow_op, dtype, i);
        else
            assert_true(found == expected);
    }
    op_free(&op);
}

static void test_two_operands(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(binary_cases); i++)
        for (size_t d = 0; d < COUNT(number_dtypes); d++)
            if (is_float(number_dtypes[d]) ? binary_cases[i].floats : binary_cases[i].ints)
                check_two(&binary_cases[i], number_dtypes[d]);
}

/* Quotients that C does not have, and powers. */
static void test_odd_integers(void **state)
{
    (void)state;
    static const struct {
        skrt_kernel_fn *fn;
        int64_t a, b, y;
    } cases[] = {
        {div_op, 7, 0, 0},
        {div_op, INT64_MIN, -1, INT64_MIN},
        {mod, 7, 0, 0},
        {mod, INT64_MIN, -1, 0},
        {floor_div, -7, 2, -4},
        {floor_div, INT64_MIN, -1, INT64_MIN},
        {floor_div, 7, 0, 0},
        {floor_mod, -7, 2, 1},
        {floor_mod, 7, -2, -1},
        {floor_mod, 7, 0, 0},
        {pow_op, 3, 5, 243},
        {pow_op, 2, 64, 0},
        {pow_op, -1, -3, -1},
        {pow_op, 1, -3, 1},
        {pow_op, 2, -1, 0},
        {squared_difference, -3, 4, 49},
        {sub, INT64_MIN, 1, INT64_MAX},
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        struct op op = {0};
        for (int t = 0; t < 3; t++)
            op_add(&op, SKRT_i64, 0, NULL);
        put_int(op.data[0], SKRT_i64, 0, cases[c].a);
        put_int(op.data[1], SKRT_i64, 0, cases[c].b);
        op_run(&op, (struct subject){NULL, cases[c].fn}, 2);
        assert_int_equal(get_int(op.data[2], SKRT_i64, 0), cases[c].y);
        op_free(&op);
    }
}

/* NaN in either operand, or both. */
static void test_nan(void **state)
{
    (void)state;
    static const struct {
        skrt_kernel_fn *fn;
        bool nan, truth; /* y is NaN, or else this */
    } cases[] = {
        {maximum, true, false},   {minimum, true, false},     {sub, true, false},
        {equal, false, false},    {less, false, false},       {greater, false, false},
        {not_equal, false, true}, {less_equal, false, false}, {greater_equal, false, false},
    };
    const float odd[] = {NAN, 1, NAN, 2}, other[] = {1, NAN, NAN, NAN};
    for (size_t c = 0; c < COUNT(cases); c++) {
        struct op op = {0};
        op_add(&op, SKRT_f32, DIMS(4));
        op_add(&op, SKRT_f32, DIMS(4));
        op_add(&op, cases[c].nan ? SKRT_f32 : SKRT_bool, DIMS(4));
        memcpy(op.data[0], odd, sizeof odd);
        memcpy(op.data[1], other, sizeof other);
        op_run(&op, (struct subject){NULL, cases[c].fn}, 2);
        for (int64_t i = 0; i < 4; i++)
            assert_true(cases[c].nan ? isnan(op_get(&op, 2, i))
                                     : op_get(&op, 2, i) == cases[c].truth);
        op_free(&op);
    }
}

static void test_logical(void **state)
{
    (void)state;
    static const struct binary_case cases[] = {
        {logical_and, both_of, false, true, true},
        {logical_or, either_of, false, true, true},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        check_two(&cases[i], SKRT_bool);
    struct op op = {0};
    op_add_random(&op, SKRT_bool, 1, row);
    op_add(&op, SKRT_bool, 1, row);
    op_run(&op, (struct subject){NULL, logical_not}, 1);
    for (int64_t i = 0; i < COLUMNS; i++)
        assert_int_equal(op.data[1][i], op.data[0][i] == 0);
    op_free(&op);
}

static void test_is_nan(void **state)
{
    (void)state;
    const float x[] = {NAN, INFINITY, -INFINITY, 0, 1};
    struct op op = {0};
    op_add(&op, SKRT_f32, DIMS(5));
    op_add(&op, SKRT_bool, DIMS(5));
    memcpy(op.data[0], x, sizeof x);
    op_run(&op, (struct subject){NULL, is_nan}, 1);
    for (int64_t i = 0; i < 5; i++)
        assert_int_equal(op.data[1][i], i == 0);
    op_free(&op);
}

/* --------------------------------------------------------------------- three operands ---- */

static void check_select(skrt_kernel_fn *fn, uint32_t dtype)
{
    struct op op = {0};
    op_add_random(&op, SKRT_bool, 2, column);
    op_add_random(&op, dtype, 2, whole);
    op_add_random(&op, dtype, 1, row);
    op_add(&op, dtype, 2, whole);
    op.data[0][0] = 0;
    op_run(&op, (struct subject){NULL, fn}, 3);
    for (int64_t i = 0; i < ELEMENTS; i++) {
        bool first = op.data[0][i / COLUMNS] != 0;
        size_t size = dtype_size(dtype), at = (size_t)(first ? i : i % COLUMNS) * size;
        assert_memory_equal(op.data[3] + (size_t)i * size, op.data[first ? 1 : 2] + at, size);
    }
    op_free(&op);
}

static void test_select(void **state)
{
    (void)state;
    for (size_t d = 0; d < COUNT(number_dtypes); d++) {
        check_select(select_op, number_dtypes[d]);
        check_select(select_v2, number_dtypes[d]);
    }
}

static void test_clip(void **state)
{
    (void)state;
    for (size_t d = 0; d < COUNT(number_dtypes); d++) {
        struct op op = {0};
        op_add_random(&op, number_dtypes[d], 2, whole);
        op_add_random(&op, number_dtypes[d], 1, row);
        op_add_random(&op, number_dtypes[d], 2, column);
        op_add(&op, number_dtypes[d], 2, whole);
        op_run(&op, (struct subject){NULL, clip_by_value}, 3);
        for (int64_t i = 0; i < ELEMENTS; i++) {
            double low = op_get(&op, 1, i % COLUMNS), high = op_get(&op, 2, i / COLUMNS);
            assert_true(op_get(&op, 3, i) == fmin(fmax(op_get(&op, 0, i), low), high));
        }
        op_free(&op);
    }
}

/* ------------------------------------------------------------------------- in place ---- */

static void check_update(skrt_kernel_fn *fn, double by, uint32_t dtype, uint32_t blocks)
{
    struct op op = {0}, before = {0};
    op_add_random(&op, dtype, 2, whole);
    op_add_random(&op, dtype, 2, whole);
    fill_small(&op, 0);
    fill_small(&op, 1);
    op_add(&before, dtype, 2, whole);
    memcpy(before.data[0], op.data[0], op.bytes[0]);
    op_launch(&op, (struct subject){NULL, fn}, blocks);
    for (int64_t i = 0; i < ELEMENTS; i++) {
        double expected = op_get(&before, 0, i) + by * op_get(&op, 1, i);
        assert_true(op_get(&op, 0, i) ==
                    (is_float(dtype) ? round_to_dtype(expected, dtype) : expected));
    }
    op_free(&op);
    op_free(&before);
}

static void test_updates(void **state)
{
    (void)state;
    for (size_t d = 0; d < COUNT(number_dtypes); d++)
        for (uint32_t blocks = 1; blocks <= 48; blocks += 47) {
            check_update(assign_add, 1, number_dtypes[d], blocks);
            check_update(assign_sub, -1, number_dtypes[d], blocks);
        }
}

/* --------------------------------------------------------------------- vector levels ---- */

struct level_case {
    skrt_kernel_fn *fn;
    unsigned operands;
    bool any; /* of all floats, not only those between -2 and 2 */
};

/* What a kernel makes at a level; the caller frees it. */
static void *run_at_level(struct op *op, skrt_kernel_fn *fn, unsigned level)
{
    unsigned y = op->n_tensors - 1;
    skrt_limit_vectors((enum skrt_vectors)level);
    op_run(op, (struct subject){NULL, fn}, y);
    void *made = malloc(op->bytes[y]);
    assert_non_null(made);
    return memcpy(made, op->data[y], op->bytes[y]);
}

static void check_levels(const struct level_case *c, uint32_t dtype)
{
    struct op op = {0};
    for (unsigned i = 0; i < c->operands; i++) {
        unsigned x = op_add_random(&op, dtype, DIMS(3, 1001));
        for (size_t at = 0; c->any && at < op.bytes[x]; at++)
            op.data[x][at] = (unsigned char)random_bits();
    }
    op_add(&op, dtype, DIMS(3, 1001));
    void *base = run_at_level(&op, c->fn, SKRT_VECTORS_BASE);
    for (unsigned level = SKRT_VECTORS_AVX2; level <= SKRT_VECTORS_VNNI; level++) {
        void *made = run_at_level(&op, c->fn, level);
        assert_memory_equal(base, made, op.bytes[c->operands]);
        free(made);
    }
    free(base);
    op_free(&op);
}

/* The same bits, whatever the operands. */
static void test_vector_levels(void **state)
{
    (void)state;
    const struct level_case cases[] = {
        {pows, 2, true},      {pows, 2, false},   {exp_op, 1, true},
        {exp_op, 1, false},   {sigmoid, 1, true}, {gelu, 1, false},
        {fast_gelu, 1, true}, {swish, 1, true},   {softmax, 1, false}};
    for (size_t i = 0; i < COUNT(cases); i++)
        for (size_t d = 0; d < COUNT(float_dtypes); d++)
            check_levels(&cases[i], float_dtypes[d]);
}

/* Units in the last place of f32 that a result is away from the truth, which is no subnormal. */
static double units_off(float found, double truth)
{
    int exponent;
    frexp(truth, &exponent);
    return fabs((double)found - truth) / ldexp(1, exponent - 24);
}

/* What docs/sample-kernels.md says of exponentials and powers: of bases near 1 with large exponents
 * and of others, whose powers are all over f32. */
static void test_units(void **state)
{
    (void)state;
    const double bases[] = {0.1, 1, 126};
    for (size_t b = 0; b < COUNT(bases); b++) {
        struct op power = {0}, exponential = {0};
        op_add(&power, SKRT_f32, DIMS(64, 1001));
        op_add(&power, SKRT_f32, DIMS(64, 1001));
        op_add(&exponential, SKRT_f32, DIMS(64, 1001));
        float *x1 = (float *)power.data[0], *x2 = (float *)power.data[1];
        float *x = (float *)exponential.data[0];
        for (int64_t i = 0; i < op_elements(&power, 0); i++) {
            double log = random_between(-bases[b], bases[b]);
            x1[i] = (float)exp2(log);
            x2[i] = x1[i] == 1 ? 1 : (float)(random_between(-125, 125) / log2(x1[i]));
            x[i] = (float)random_between(-86, 88);
        }
        op_add(&power, SKRT_f32, DIMS(64, 1001));
        op_add(&exponential, SKRT_f32, DIMS(64, 1001));
        op_run(&power, (struct subject){NULL, pows}, 2);
        op_run(&exponential, (struct subject){NULL, exp_op}, 1);
        for (int64_t i = 0; i < op_elements(&power, 0); i++) {
            assert_true(units_off(((float *)power.data[2])[i], pow(x1[i], x2[i])) <= 0.51);
            assert_true(units_off(((float *)exponential.data[1])[i], exp(x[i])) <= 0.501);
        }
        op_free(&power);
        op_free(&exponential);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_units),        cmocka_unit_test(test_vector_levels),
        cmocka_unit_test(test_unary),        cmocka_unit_test(test_unary_ints),
        cmocka_unit_test(test_two_operands), cmocka_unit_test(test_odd_integers),
        cmocka_unit_test(test_nan),          cmocka_unit_test(test_logical),
        cmocka_unit_test(test_is_nan),       cmocka_unit_test(test_select),
        cmocka_unit_test(test_clip),         cmocka_unit_test(test_updates),
    };
    return cmocka_run_group_tests(tests, suite_open, suite_close);
}
