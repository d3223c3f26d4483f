/* The sample sub-kernels of the vector cores against plain references. */
#include "tests/unit/kernel_harness.h"

skrt_kernel_fn add_dynamic_small, add_dynamic_large;
skrt_kernel_fn add, mul, pows, cast, is_inf, is_finite, dequant_swiglu_quant, rms_norm, softmax;
skrt_kernel_fn scatter_update, assign;

/* ------------------------------------------------------------------- element-wise ops ---- */

struct broadcast_case {
    size_t rank1, rank2, rank;
    int64_t dims1[4], dims2[4], dims[4];
};

static const struct broadcast_case broadcast_cases[] = {
    {0, 0, 0, {0}, {0}, {0}},
    {1, 1, 1, {1}, {1}, {1}},
    {1, 1, 1, {1000}, {1000}, {1000}},
    {1, 0, 1, {700}, {0}, {700}},
    {2, 1, 2, {5, 300}, {300}, {5, 300}},
    {2, 2, 2, {5, 1}, {1, 7}, {5, 7}},
    {1, 2, 2, {7}, {5, 1}, {5, 7}},
    {3, 3, 3, {3, 1, 4}, {3, 5, 4}, {3, 5, 4}},
    {4, 4, 4, {2, 3, 4, 1}, {2, 3, 1, 5}, {2, 3, 4, 5}},
    {4, 2, 4, {2, 1, 1, 6}, {3, 1}, {2, 1, 3, 6}},
    {2, 2, 2, {0, 3}, {1, 3}, {0, 3}},
};

/* Index of the element of `x` that broadcasting pairs with element `index` of `y`. */
static int64_t broadcast_index(const struct skrt_tensor *x, const struct skrt_tensor *y,
                               int64_t index)
{
    int64_t at = 0, stride = 1;
    for (uint32_t back = 1; back <= x->rank; back++) {
        int64_t dim = x->dims[x->rank - back], size = y->dims[y->rank - back];
        at += (dim == 1 ? 0 : index % size) * stride;
        stride *= dim;
        index /= size;
    }
    return at;
}

static void check_binary_int(const struct op *op, char sign)
{
    uint32_t dtype = op->tensors[2].dtype;
    for (int64_t i = 0; i < op_elements(op, 2); i++) {
        int64_t i1 = broadcast_index(&op->tensors[0], &op->tensors[2], i);
        int64_t i2 = broadcast_index(&op->tensors[1], &op->tensors[2], i);
        uint64_t a = (uint64_t)get_int(op->data[0], dtype, i1);
        uint64_t b = (uint64_t)get_int(op->data[1], dtype, i2);
        int64_t expected;
        put_int(&expected, dtype, 0, (int64_t)(sign == '+' ? a + b : a * b));
        assert_true(get_int(op->data[2], dtype, i) == get_int(&expected, dtype, 0));
    }
}

static void check_binary_float(const struct op *op, char sign)
{
    for (int64_t i = 0; i < op_elements(op, 2); i++) {
        double a = op_get(op, 0, broadcast_index(&op->tensors[0], &op->tensors[2], i));
        double b = op_get(op, 1, broadcast_index(&op->tensors[1], &op->tensors[2], i));
        double y = sign == '+' ? a + b : sign == '*' ? a * b : (double)(float)pow(a, b);
        assert_value(op_get(op, 2, i), round_to_dtype(y, op->tensors[2].dtype), "y", i);
    }
}

static void check_binary(skrt_kernel_fn *fn, char sign, uint32_t dtype, bool is_float)
{
    for (size_t c = 0; c < COUNT(broadcast_cases); c++) {
        const struct broadcast_case *shape = &broadcast_cases[c];
        struct op op = {0};
        op_add_random(&op, dtype, shape->rank1, shape->dims1);
        op_add_random(&op, dtype, shape->rank2, shape->dims2);
        op_add(&op, dtype, shape->rank, shape->dims);
        op_run(&op, (struct subject){NULL, fn}, 2);
        if (is_float)
            check_binary_float(&op, sign);
        else
            check_binary_int(&op, sign);
        op_free(&op);
    }
}

static void test_binary(void **state)
{
    (void)state;
    const uint32_t ints[] = {SKRT_i8, SKRT_i32, SKRT_i64};
    for (size_t i = 0; i < 3; i++) {
        check_binary(add, '+', float_dtypes[i], true);
        check_binary(mul, '*', float_dtypes[i], true);
        check_binary(pows, '^', float_dtypes[i], true);
        check_binary(add, '+', ints[i], false);
        check_binary(add_dynamic_small, '+', ints[i], false);
        check_binary(add_dynamic_large, '+', float_dtypes[i], true);
        check_binary(mul, '*', ints[i], false);
    }
}

static void put_specials(struct op *op, unsigned tensor)
{
    const uint32_t f32[] = {0x7f800000, 0xff800000, 0x7f800001, 0,
                            0x80000000, 1,          0x7f7fffff, 0x3356bf95};
    const uint16_t f16[] = {0x7c00, 0xfc00, 0x7e01, 0, 0x8000, 1, 0x7bff, 0xfd01};
    const uint16_t bf16[] = {0x7f80, 0xff80, 0x7fc1, 0, 0x8000, 1, 0x7f7f, 0xff81};
    uint32_t dtype = op->tensors[tensor].dtype;
    const void *from = dtype == SKRT_f32 ? (const void *)f32 : dtype == SKRT_f16 ? f16 : bf16;
    memcpy(op->data[tensor], from, 8 * dtype_size(dtype));
}

static void test_predicates(void **state)
{
    (void)state;
    const int64_t sizes[] = {8, 9, 1000};
    for (size_t d = 0; d < 3; d++)
        for (size_t s = 0; s < COUNT(sizes); s++)
            for (int finite = 0; finite < 2; finite++) {
                struct op op = {0};
                op_add_random(&op, float_dtypes[d], DIMS(sizes[s]));
                put_specials(&op, 0);
                op_add(&op, SKRT_bool, DIMS(sizes[s]));
                op_run(&op, (struct subject){NULL, finite ? is_finite : is_inf}, 1);
                for (int64_t i = 0; i < sizes[s]; i++) {
                    double x = op_get(&op, 0, i);
                    assert_int_equal(op.data[1][i], finite ? isfinite(x) != 0 : isinf(x) != 0);
                }
                op_free(&op);
            }
}

/* ------------------------------------------------------------------------------- Cast ---- */

/* An integer rounded to `bits` significant bits, to nearest even. */
static double round_int(int64_t value, int bits)
{
    uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;
    int shift = 0;
    while (magnitude >> shift >> bits != 0)
        shift++;
    uint64_t kept = magnitude >> shift, rest = magnitude - (kept << shift);
    uint64_t half = shift > 0 ? UINT64_C(1) << (shift - 1) : 0;
    if (shift > 0 && (rest > half || (rest == half && (kept & 1) != 0)))
        kept++;
    return ldexp((double)kept, shift) * (value < 0 ? -1 : 1);
}

/* Whether `to` has x without its fraction, which is then in `expected`; else it is undefined. */
static bool cast_float_to_int(double x, uint32_t to, int64_t *expected)
{
    int bits = 8 * (int)dtype_size(to);
    double whole = trunc(x), low = to == SKRT_u8 ? 0 : -ldexp(1, bits - 1);
    bool known = whole >= low && whole < low + ldexp(1, bits);
    *expected = known ? (int64_t)whole : 0;
    if (to == SKRT_bool)
        *expected = x != 0;
    return known || to == SKRT_bool;
}

static void check_cast(const struct op *op)
{
    uint32_t from = op->tensors[0].dtype, to = op->tensors[1].dtype;
    int bits = to == SKRT_f32 ? 24 : to == SKRT_f16 ? 11 : 8;
    for (int64_t i = 0; i < op_elements(op, 0); i++) {
        if (is_float(from) && is_float(to)) {
            assert_value(op_get(op, 1, i), round_to_dtype(op_get(op, 0, i), to), "y", i);
        } else if (is_float(from)) {
            int64_t expected;
            if (cast_float_to_int(op_get(op, 0, i), to, &expected))
                assert_true(get_int(op->data[1], to, i) == expected);
        } else {
            int64_t x = get_int(op->data[0], from, i), expected;
            x = from == SKRT_bool ? x != 0 : x;
            if (is_float(to)) {
                assert_value(op_get(op, 1, i), round_to_dtype(round_int(x, bits), to), "y", i);
                continue;
            }
            put_int(&expected, to, 0, to == SKRT_bool ? x != 0 : x);
            assert_true(get_int(op->data[1], to, i) == get_int(&expected, to, 0));
        }
    }
}

/* An integer of any magnitude; every other one lies close to the middle between two neighbours of
 * a float format. */
static int64_t random_int(void)
{
    int64_t value = (int64_t)random_bits() >> random_bits() % 64;
    if (random_bits() % 2 == 0)
        return value;
    unsigned bits = (unsigned[]){9, 12, 25}[random_bits() % 3];
    int64_t middle = (int64_t)(random_bits() >> (64 - bits) | 1) << random_bits() % (64 - bits);
    return (value < 0 ? -middle : middle) + (int64_t)(random_bits() % 3) - 1;
}

/* Values of all magnitudes, among them halves between integers. */
static void fill_cast(struct op *op)
{
    uint32_t dtype = op->tensors[0].dtype;
    op_fill(op, 0);
    for (int64_t i = 0; i < op_elements(op, 0); i++) {
        unsigned shift = (unsigned)(random_bits() % 64);
        if (!is_float(dtype))
            put_int(op->data[0], dtype, i, random_int());
        else if (dtype == SKRT_f32)
            ((float *)op->data[0])[i] = (float)((int64_t)random_bits() >> shift) / 2;
        else
            ((uint16_t *)op->data[0])[i] = (uint16_t)random_bits();
    }
    if (is_float(dtype))
        put_specials(op, 0);
}

static void test_cast(void **state)
{
    (void)state;
    const uint32_t dtypes[] = {SKRT_f32, SKRT_f16, SKRT_bf16, SKRT_i8,  SKRT_u8,
                               SKRT_i16, SKRT_i32, SKRT_i64,  SKRT_bool};
    for (size_t from = 0; from < COUNT(dtypes); from++)
        for (size_t to = 0; to < COUNT(dtypes); to++) {
            struct op op = {0};
            op_add(&op, dtypes[from], DIMS(3, 1001));
            op_add(&op, dtypes[to], DIMS(3, 1001));
            fill_cast(&op);
            op_run(&op, (struct subject){NULL, cast}, 1);
            check_cast(&op);
            op_free(&op);
        }
}

/* Every value of a 16-bit float, the midpoints to the next and their neighbours. */
static void test_cast_halves(void **state)
{
    (void)state;
    for (int d = 1; d < 3; d++) {
        struct op wide = {0}, narrow = {0};
        op_add(&wide, float_dtypes[d], DIMS(65536));
        op_add(&wide, SKRT_f32, DIMS(65536));
        for (unsigned i = 0; i < 65536; i++)
            ((uint16_t *)wide.data[0])[i] = (uint16_t)i;
        op_launch(&wide, (struct subject){NULL, cast}, 48);
        check_cast(&wide);

        op_add(&narrow, SKRT_f32, DIMS(65535, 3));
        op_add(&narrow, float_dtypes[d], DIMS(65535, 3));
        const float *values = (const float *)wide.data[1];
        for (unsigned i = 0; i < 65535; i++) {
            float *to = (float *)narrow.data[0] + 3 * i;
            to[1] = (float)(((double)values[i] + (double)values[i + 1]) / 2);
            to[0] = nextafterf(to[1], -INFINITY);
            to[2] = nextafterf(to[1], INFINITY);
        }
        op_launch(&narrow, (struct subject){NULL, cast}, 48);
        check_cast(&narrow);
        op_free(&wide);
        op_free(&narrow);
    }
}

/* ------------------------------------------------------------------------ row-wise ops ---- */

static double swiglu_value(const struct op *op, int64_t row, int64_t column, bool left)
{
    int64_t half = op->tensors[7].dims[1], first = left ? column : half + column;
    int64_t second = left ? half + column : column;
    double rows = op->tensors[2].form == SKRT_TENSOR ? op_get(op, 2, row) : 1;
    double a = op_get(op, 0, row * 2 * half + first) * op_get(op, 1, first) * rows;
    double b = op_get(op, 0, row * 2 * half + second) * op_get(op, 1, second) * rows;
    return a / (1 + exp(-a)) * b;
}

static void check_swiglu_row(const struct op *op, int64_t row, bool left)
{
    int64_t half = op->tensors[7].dims[1];
    double max = 0, scale = op_get(op, 8, row);
    for (int64_t i = 0; i < half; i++)
        max = fmax(max, fabs(swiglu_value(op, row, i, left)));
    assert_near(scale, max / 127, SKRT_f32, "scale", row);
    for (int64_t i = 0; i < half; i++) {
        double exact = scale == 0 ? 0 : swiglu_value(op, row, i, left) / scale;
        double distance = fabs(op_get(op, 7, row * half + i) - exact);
        if (!(distance <= 0.5 + 1e-3))
            fail_msg("y[%" PRId64 ", %" PRId64 "] is %g, expected %g", row, i,
                     op_get(op, 7, row * half + i), exact);
    }
}

static void run_swiglu(int64_t m, int64_t half, uint32_t dtype, int activate_left)
{
    struct op op = {0};
    op_add_random(&op, dtype, DIMS(m, 2 * half));
    op_add_random(&op, SKRT_f32, DIMS(2 * half));
    if (m == 50)
        op_add_random(&op, SKRT_f32, DIMS(m));
    while (op.n_tensors < 7)
        op_add_absent(&op);
    op_add(&op, SKRT_i8, DIMS(m, half));
    op_add(&op, SKRT_f32, DIMS(m));
    if (dtype == SKRT_i32)
        for (int64_t i = 0; i < 2 * half; i++)
            ((float *)op.data[1])[i] *= 0x1p-30f;
    if (m > 1) /* a row of zeros */
        memset(op.data[0], 0, (size_t)(2 * half) * dtype_size(dtype));
    if (activate_left >= 0)
        op_add_attr(&op, "activate_left", activate_left);
    op_run(&op, (struct subject){NULL, dequant_swiglu_quant}, 7);
    for (int64_t row = 0; row < m; row++)
        check_swiglu_row(&op, row, activate_left > 0);
    op_free(&op);
}

static void test_swiglu(void **state)
{
    (void)state;
    const uint32_t dtypes[] = {SKRT_f32, SKRT_f16, SKRT_bf16, SKRT_i32};
    for (size_t d = 0; d < COUNT(dtypes); d++)
        for (int left = -1; left < 2; left++) {
            run_swiglu(1, 1, dtypes[d], left);
            run_swiglu(50, 7, dtypes[d], left);
            run_swiglu(3, 300, dtypes[d], left);
            run_swiglu(3, 0, dtypes[d], left);
        }
}

/* Ties round to even: in a row whose maximum is 127 steps, some lie halfway between two. */
static void test_swiglu_ties(void **state)
{
    (void)state;
    struct op op = {0};
    const double second[] = {127, 2.5, 3.5, -2.5, -0.5, NAN};
    const int expected[] = {127, 2, 4, -2, 0, 0};
    int64_t half = COUNT(second);
    op_add(&op, SKRT_f32, DIMS(1, 2 * half));
    op_add(&op, SKRT_f32, DIMS(2 * half));
    while (op.n_tensors < 7)
        op_add_absent(&op);
    op_add(&op, SKRT_i8, DIMS(1, half));
    op_add(&op, SKRT_f32, DIMS(1));
    for (int64_t i = 0; i < half; i++) {
        ((float *)op.data[0])[i] = 64; /* silu(64) is 64 in f32 */
        ((float *)op.data[0])[half + i] = (float)second[i];
        ((float *)op.data[1])[i] = ((float *)op.data[1])[half + i] = 1;
    }
    op_add_attr(&op, "activate_left", 1);
    op_run(&op, (struct subject){NULL, dequant_swiglu_quant}, 7);
    for (int64_t i = 0; i < half; i++)
        assert_int_equal((int8_t)op.data[7][i], expected[i]);
    assert_value(op_get(&op, 8, 0), 64, "scale", 0);
    op_free(&op);
}

/* In units of the smallest subnormal, 60 / 127 rounds to a scale of 0 and 190 / 127 to one of 1.
 * The activated half holds the number of units, which silu leaves as it is. */
static void test_swiglu_subnormal(void **state)
{
    (void)state;
    const int steps[3][2] = {{60, 60}, {190, -190}, {200, 100}};
    const int expected[3][2] = {{0, 0}, {127, -127}, {100, 50}};
    struct op op = {0};
    op_add(&op, SKRT_f32, DIMS(3, 4));
    op_add(&op, SKRT_f32, DIMS(4));
    while (op.n_tensors < 7)
        op_add_absent(&op);
    op_add(&op, SKRT_i8, DIMS(3, 2));
    op_add(&op, SKRT_f32, DIMS(3));
    for (int i = 0; i < 4; i++)
        ((float *)op.data[1])[i] = 1;
    for (int row = 0; row < 3; row++)
        for (int i = 0; i < 2; i++) {
            ((float *)op.data[0])[4 * row + i] = (float)abs(steps[row][i]);
            ((float *)op.data[0])[4 * row + 2 + i] = steps[row][i] < 0 ? -0x1p-149f : 0x1p-149f;
        }
    op_add_attr(&op, "activate_left", 1);
    op_run(&op, (struct subject){NULL, dequant_swiglu_quant}, 7);
    for (int i = 0; i < 6; i++)
        assert_int_equal((int8_t)op.data[7][i], expected[i / 2][i % 2]);
    op_free(&op);
}

static void run_rms_norm(size_t rank, const int64_t *dims, uint32_t dtype, uint32_t gamma,
                         double epsilon)
{
    struct op op = {0};
    int64_t n = dims[rank - 1], reduced[SKRT_MAX_RANK];
    memcpy(reduced, dims, rank * sizeof *dims);
    reduced[rank - 1] = 1;
    op_add_random(&op, dtype, rank, dims);
    op_add_random(&op, gamma, DIMS(n));
    op_add(&op, dtype, rank, dims);
    op_add(&op, SKRT_f32, rank, reduced);
    if (epsilon != 1e-6)
        op_add_attr(&op, "epsilon", epsilon);
    op_run(&op, (struct subject){NULL, rms_norm}, 2);
    for (int64_t row = 0; row < op_elements(&op, 3); row++) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++)
            sum += pow(op_get(&op, 0, row * n + i), 2);
        double rstd = 1 / sqrt(sum / (double)n + epsilon);
        assert_near(op_get(&op, 3, row), rstd, SKRT_f32, "rstd", row);
        for (int64_t i = 0; i < n; i++)
            assert_near(op_get(&op, 2, row * n + i),
                        op_get(&op, 0, row * n + i) * rstd * op_get(&op, 1, i), dtype, "y", i);
    }
    op_free(&op);
}

static void test_rms_norm(void **state)
{
    (void)state;
    for (size_t d = 0; d < 3; d++) {
        run_rms_norm(DIMS(1), float_dtypes[d], float_dtypes[d], 1e-6);
        run_rms_norm(DIMS(60, 7), float_dtypes[d], SKRT_f32, 0.5);
        run_rms_norm(DIMS(2, 3, 1001), float_dtypes[d], float_dtypes[d], 1e-6);
        run_rms_norm(DIMS(0, 3), float_dtypes[d], float_dtypes[d], 1e-6);
    }
}

static void run_softmax(size_t rank, const int64_t *dims, uint32_t dtype, bool specials)
{
    struct op op = {0};
    int64_t n = dims[rank - 1];
    op_add_random(&op, dtype, rank, dims);
    op_add(&op, dtype, rank, dims);
    if (specials)
        put_specials(&op, 0);
    for (int64_t i = 0; dtype == SKRT_f32 && i < op_elements(&op, 0); i++)
        ((float *)op.data[0])[i] *= 100; /* exp(200) would overflow */
    op_run(&op, (struct subject){NULL, softmax}, 1);
    int64_t rows = n > 0 ? op_elements(&op, 0) / n : 0;
    for (int64_t row = 0; row < rows; row++) {
        double max = -INFINITY, sum = 0;
        for (int64_t i = 0; i < n; i++)
            max = fmax(max, op_get(&op, 0, row * n + i));
        for (int64_t i = 0; i < n; i++)
            sum += exp(op_get(&op, 0, row * n + i) - max);
        for (int64_t i = 0; i < n; i++)
            assert_near(op_get(&op, 1, row * n + i), exp(op_get(&op, 0, row * n + i) - max) / sum,
                        dtype, "y", row * n + i);
    }
    op_free(&op);
}

static void test_softmax(void **state)
{
    (void)state;
    for (size_t d = 0; d < 3; d++) {
        run_softmax(DIMS(1), float_dtypes[d], false);
        run_softmax(DIMS(60, 7), float_dtypes[d], false);
        run_softmax(DIMS(2, 3, 1001), float_dtypes[d], false);
        run_softmax(DIMS(3, 0), float_dtypes[d], false);
        run_softmax(DIMS(2, 300), float_dtypes[d], true);
    }
}

/* --------------------------------------------------------------------------- refusals ---- */

/* A kernel that is given shapes it does not accept leaves its results alone. */
static void test_wrong_tiling(void **state)
{
    (void)state;
    struct op op = {0};
    op_add_random(&op, SKRT_f32, DIMS(4, 5));
    op_add_random(&op, SKRT_f32, DIMS(6, 3));
    op_add(&op, SKRT_f32, DIMS(40, 30));
    op_launch(&op, (struct subject){NULL, add}, 3);
    for (size_t i = 0; i < op.bytes[2]; i++)
        assert_int_equal(op.data[2][i], 0xa5);
    op_launch(&op, (struct subject){NULL, softmax}, 3);
    op_launch(&op, (struct subject){NULL, cast}, 3);
    op_launch(&op, (struct subject){NULL, is_inf}, 3);
    for (size_t i = 0; i < op.bytes[2]; i++)
        assert_int_equal(op.data[2][i], 0xa5);
    op_free(&op);
}

/* --------------------------------------------------------------------------- the suite ---- */

/* ------------------------------------------------------------------- updates in place ---- */

struct scatter_case {
    uint32_t dtype, index_dtype;
    double axis;
    size_t rank, place; /* `place` is the axis from 0 */
    int64_t dims[3], updates;
    int64_t indices[4];
};

/* Indices that are twice there, and outside. */
static const struct scatter_case scatter_cases[] = {
    {SKRT_f16, SKRT_i64, 0, 2, 0, {8, 5}, 3, {6, 0, 2}},
    {SKRT_f32, SKRT_i32, 1, 3, 1, {3, 7, 70}, 4, {1, 1, 7, 1}},
    {SKRT_i8, SKRT_i32, -1, 2, 1, {70, 3}, 2, {-1, 2}},
    {SKRT_i64, SKRT_i64, 0, 1, 0, {9}, 4, {8, 7, 8, 100}},
    {SKRT_bool, SKRT_i32, 0, 2, 0, {4, 0}, 1, {1}},
    {SKRT_f32, SKRT_i64, -2, 3, 1, {2, 4, 3}, 0, {0}},
};

static int64_t product(const int64_t *dims, size_t first, size_t last)
{
    int64_t n = 1;
    for (size_t i = first; i < last; i++)
        n *= dims[i];
    return n;
}

/* Element by element, in the order of the updates. */
static void scatter(unsigned char *var, const struct scatter_case *c, const unsigned char *updates)
{
    int64_t outer = product(c->dims, 0, c->place), size = (int64_t)dtype_size(c->dtype);
    int64_t inner = product(c->dims, c->place + 1, c->rank), slices = c->dims[c->place];
    for (int64_t i = 0; i < c->updates; i++)
        for (int64_t o = 0; o < outer; o++)
            for (int64_t k = 0; k < inner && c->indices[i] >= 0 && c->indices[i] < slices; k++)
                memcpy(var + ((o * slices + c->indices[i]) * inner + k) * size,
                       updates + ((o * c->updates + i) * inner + k) * size, (size_t)size);
}

static void add_scatter(struct op *op, const struct scatter_case *c)
{
    int64_t dims[3];
    memcpy(dims, c->dims, sizeof dims);
    op_add_random(op, c->dtype, c->rank, dims);
    op_add(op, c->index_dtype, DIMS(c->updates));
    for (int64_t i = 0; i < c->updates; i++)
        if (c->index_dtype == SKRT_i64)
            ((int64_t *)op->data[1])[i] = c->indices[i];
        else
            ((int32_t *)op->data[1])[i] = (int32_t)c->indices[i];
    dims[c->place] = c->updates;
    op_add_random(op, c->dtype, c->rank, dims);
    op_add(op, c->dtype, c->rank, c->dims);
    if (c->axis != 0)
        op_add_attr(op, "axis", c->axis);
}

/* The operand is written, so it is made anew for each number of blocks. */
static void check_in_place(struct op *op, skrt_kernel_fn *fn, const unsigned char *expected)
{
    const uint32_t blocks[] = {1, 3, 24, 48};
    unsigned char *before = malloc(op->bytes[0] + 1);
    assert_non_null(before);
    memcpy(before, op->data[0], op->bytes[0]);
    for (size_t i = 0; i < COUNT(blocks); i++) {
        memcpy(op->data[0], before, op->bytes[0]);
        op_launch(op, (struct subject){NULL, fn}, blocks[i]);
        assert_memory_equal(op->data[0], expected, op->bytes[0]);
    }
    free(before);
}

static void test_scatter_update(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(scatter_cases); i++) {
        struct op op = {0};
        add_scatter(&op, &scatter_cases[i]);
        unsigned char *expected = malloc(op.bytes[0] + 1);
        assert_non_null(expected);
        memcpy(expected, op.data[0], op.bytes[0]);
        scatter(expected, &scatter_cases[i], op.data[2]);
        check_in_place(&op, scatter_update, expected);
        free(expected);
        op_free(&op);
    }
}

static void test_assign(void **state)
{
    (void)state;
    const uint32_t dtypes[] = {SKRT_f32, SKRT_bf16, SKRT_i64, SKRT_i8};
    for (size_t d = 0; d < COUNT(dtypes); d++) {
        struct op op = {0};
        op_add_random(&op, dtypes[d], DIMS(7, 31));
        op_add_random(&op, dtypes[d], DIMS(7, 31));
        check_in_place(&op, assign, op.data[1]);
        op_free(&op);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_binary),
        cmocka_unit_test(test_predicates),
        cmocka_unit_test(test_cast),
        cmocka_unit_test(test_cast_halves),
        cmocka_unit_test(test_swiglu),
        cmocka_unit_test(test_swiglu_ties),
        cmocka_unit_test(test_swiglu_subnormal),
        cmocka_unit_test(test_rms_norm),
        cmocka_unit_test(test_softmax),
        cmocka_unit_test(test_wrong_tiling),
        cmocka_unit_test(test_scatter_update),
        cmocka_unit_test(test_assign),
    };
    return cmocka_run_group_tests(tests, suite_open, suite_close);
}
