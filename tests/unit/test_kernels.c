/* The sample sub-kernels against plain references, launched on the real runtime.
 *
 * References decode and encode elements by arithmetic on doubles, not by bits as the kernels do.
 * Every case runs with several block counts, which must give the same bytes. The seed is printed;
 * SKIR_TEST_SEED repeats a run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "skrt.h"

skrt_kernel_fn add, mul, pows, cast, is_inf, is_finite, mat_mul, dequant_swiglu_quant, rms_norm,
    softmax, quant_batch_matmul_v3_mix_aic, quant_batch_matmul_v3_mix_aiv;

enum { MAX_TENSORS = 5, GUARD = 64, GUARD_BYTE = 0x5c };

#define DIMS(...)                                                                                  \
    (sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[])                              \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define SCALAR 0, NULL
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const uint32_t float_dtypes[] = {SKRT_f32, SKRT_f16, SKRT_bf16};

/* -------------------------------------------------------------------------- elements ---- */

static size_t dtype_size(uint32_t dtype)
{
    switch (dtype) {
    case SKRT_i8:
    case SKRT_u8:
    case SKRT_bool: return 1;
    case SKRT_i16:
    case SKRT_f16:
    case SKRT_bf16: return 2;
    case SKRT_i64: return 8;
    default: return 4;
    }
}

/* Value of a float format with `fraction` explicit bits and exponent bias `bias`. */
static double decode_bits(unsigned bits, int fraction, int bias)
{
    int exponents = 15 - fraction, top = (1 << exponents) - 1;
    int exponent = (int)(bits >> fraction) & top, mantissa = (int)bits & ((1 << fraction) - 1);
    double sign = bits >> 15 ? -1 : 1;
    if (exponent == top)
        return mantissa != 0 ? NAN : sign * INFINITY;
    if (exponent == 0)
        return sign * ldexp(mantissa, 1 - bias - fraction);
    return sign * ldexp(mantissa + (1 << fraction), exponent - bias - fraction);
}

/* `value` rounded to the precision of a float format; beyond `max` it is infinite. */
static double round_to(double value, int fraction, int bias, double max)
{
    if (value == 0 || !isfinite(value))
        return value;
    int exponent = ilogb(value) > 1 - bias ? ilogb(value) : 1 - bias;
    double rounded = ldexp(nearbyint(ldexp(value, fraction - exponent)), exponent - fraction);
    return fabs(rounded) > max ? copysign(INFINITY, value) : rounded;
}

static double round_to_dtype(double value, uint32_t dtype)
{
    switch (dtype) {
    case SKRT_f16: return round_to(value, 10, 15, 65504);
    case SKRT_bf16: return round_to(value, 7, 127, 0x1.fep127);
    default: return (float)value;
    }
}

static int64_t get_int(const void *data, uint32_t dtype, int64_t index)
{
    switch (dtype) {
    case SKRT_i8: return ((const int8_t *)data)[index];
    case SKRT_i16: return ((const int16_t *)data)[index];
    case SKRT_i32: return ((const int32_t *)data)[index];
    case SKRT_i64: return ((const int64_t *)data)[index];
    default: return ((const uint8_t *)data)[index];
    }
}

static double get(const void *data, uint32_t dtype, int64_t index)
{
    switch (dtype) {
    case SKRT_f32: return ((const float *)data)[index];
    case SKRT_f16: return decode_bits(((const uint16_t *)data)[index], 10, 15);
    case SKRT_bf16: return decode_bits(((const uint16_t *)data)[index], 7, 127);
    default: return (double)get_int(data, dtype, index);
    }
}

static void put_int(void *data, uint32_t dtype, int64_t index, int64_t value)
{
    switch (dtype) {
    case SKRT_i16: ((int16_t *)data)[index] = (int16_t)value; break;
    case SKRT_i32: ((int32_t *)data)[index] = (int32_t)value; break;
    case SKRT_i64: ((int64_t *)data)[index] = value; break;
    default: ((uint8_t *)data)[index] = (uint8_t)value; break;
    }
}

/* ---------------------------------------------------------------------------- random ---- */

static uint64_t random_state;

static uint64_t random_bits(void)
{
    random_state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = random_state;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static double random_between(double low, double high)
{
    return low + (high - low) * ((double)(random_bits() >> 11) * 0x1p-53);
}

/* ------------------------------------------------------------------------------- ops ---- */

struct op {
    unsigned n_tensors, n_attrs;
    struct skrt_tensor tensors[MAX_TENSORS];
    struct skrt_attr attrs[2];
    unsigned char *data[MAX_TENSORS];
    size_t bytes[MAX_TENSORS];
    size_t workspace; /* bytes; 0: the kernel has no such parameter */
};

static int64_t op_elements(const struct op *op, unsigned tensor)
{
    int64_t n = 1;
    for (uint32_t i = 0; i < op->tensors[tensor].rank; i++)
        n *= op->tensors[tensor].dims[i];
    return n;
}

/* Adds a tensor with guard bytes behind it. Its elements are garbage. */
static unsigned op_add(struct op *op, uint32_t dtype, size_t rank, const int64_t *dims)
{
    unsigned index = op->n_tensors++;
    assert_true(index < MAX_TENSORS && rank <= SKRT_MAX_RANK);
    op->tensors[index] = (struct skrt_tensor){.dtype = dtype, .rank = (uint32_t)rank};
    if (rank > 0)
        memcpy(op->tensors[index].dims, dims, rank * sizeof *dims);
    op->bytes[index] = (size_t)op_elements(op, index) * dtype_size(dtype);
    op->data[index] = malloc(op->bytes[index] + GUARD);
    assert_non_null(op->data[index]);
    memset(op->data[index], 0xa5, op->bytes[index]);
    memset(op->data[index] + op->bytes[index], GUARD_BYTE, GUARD);
    return index;
}

/* Floats between -2 and 2; integers over their whole range. */
static void op_fill(struct op *op, unsigned tensor)
{
    uint32_t dtype = op->tensors[tensor].dtype;
    for (int64_t i = 0; i < op_elements(op, tensor); i++) {
        float value = (float)random_between(-2, 2);
        uint16_t half = (uint16_t)((random_bits() & 0x87ff) + 0x3800);
        if (dtype == SKRT_f32)
            ((float *)op->data[tensor])[i] = value;
        else if (dtype == SKRT_f16)
            ((uint16_t *)op->data[tensor])[i] = half;
        else if (dtype == SKRT_bf16)
            ((uint16_t *)op->data[tensor])[i] = (uint16_t)((random_bits() & 0x81ff) + 0x3e00);
        else
            put_int(op->data[tensor], dtype, i, (int64_t)random_bits());
    }
}

static unsigned op_add_random(struct op *op, uint32_t dtype, size_t rank, const int64_t *dims)
{
    unsigned tensor = op_add(op, dtype, rank, dims);
    op_fill(op, tensor);
    return tensor;
}

static void op_add_attr(struct op *op, const char *key, double value)
{
    struct skrt_attr *attr = &op->attrs[op->n_attrs++];
    memset(attr, 0, sizeof *attr);
    snprintf(attr->key, sizeof attr->key, "%s", key);
    attr->i = (int64_t)value;
    attr->f = value;
}

static double op_get(const struct op *op, unsigned tensor, int64_t index)
{
    return get(op->data[tensor], op->tensors[tensor].dtype, index);
}

static void op_free(struct op *op)
{
    for (unsigned i = 0; i < op->n_tensors; i++) {
        for (size_t at = 0; at < GUARD; at++)
            assert_int_equal(op->data[i][op->bytes[i] + at], GUARD_BYTE);
        free(op->data[i]);
    }
    memset(op, 0, sizeof *op);
}

/* --------------------------------------------------------------------------- launches ---- */

struct subject {
    skrt_kernel_fn *aic, *aiv; /* either may be NULL */
};

static struct skrt_device *device;

static void op_launch(struct op *op, struct subject subject, uint32_t blocks)
{
    struct skrt_tiling tiling = {op->n_tensors, op->n_attrs, op->tensors, op->attrs};
    uint64_t params[MAX_TENSORS + 2];
    size_t n = 0;
    for (; n < op->n_tensors; n++)
        params[n] = (uintptr_t)op->data[n];
    void *workspace = malloc(op->workspace + 1);
    assert_non_null(workspace);
    memset(workspace, 0xee, op->workspace + 1);
    if (op->workspace > 0)
        params[n++] = (uintptr_t)workspace;
    params[n++] = (uintptr_t)&tiling;

    bool mixed = subject.aic != NULL && subject.aiv != NULL;
    uint8_t aivs = mixed ? 2 : subject.aiv != NULL;
    struct skrt_launch launch = {.name = "test",
                                 .blocks = blocks,
                                 .aics = subject.aic != NULL,
                                 .aivs = aivs,
                                 .params = params,
                                 .n_params = n,
                                 .timeout_ms = 60000};
    launch.parts[SKRT_AIC] = (struct skrt_call){subject.aic, 0, blocks, aivs, false};
    launch.parts[SKRT_AIV] = (struct skrt_call){subject.aiv, 0, blocks, aivs, !mixed};
    struct skrt_result result;
    if (skrt_launch(device, &launch, &result) != SKRT_OK)
        fail_msg("launch: %s\n%s", skrt_status_text(result.status), result.report);
    assert_int_equal(((unsigned char *)workspace)[op->workspace], 0xee);
    free(workspace);
}

/* Runs with several block counts; results begin at tensor `first_result`. */
static void op_run(struct op *op, struct subject subject, unsigned first_result)
{
    const uint32_t blocks[] = {1, 3, 7, 24, 48};
    op_launch(op, subject, blocks[0]);
    for (size_t i = 1; i < COUNT(blocks) - (subject.aic != NULL); i++) {
        unsigned char *before[MAX_TENSORS];
        for (unsigned t = first_result; t < op->n_tensors; t++) {
            before[t] = op->data[t];
            op->data[t] = malloc(op->bytes[t] + GUARD);
            assert_non_null(op->data[t]);
            memset(op->data[t], 0x5a, op->bytes[t]);
            memset(op->data[t] + op->bytes[t], GUARD_BYTE, GUARD);
        }
        op_launch(op, subject, blocks[i]);
        for (unsigned t = first_result; t < op->n_tensors; t++) {
            assert_memory_equal(before[t], op->data[t], op->bytes[t] + GUARD);
            free(before[t]);
        }
    }
}

/* Equal as values; NaN equals NaN; zeros must agree in sign. */
static void assert_value(double found, double expected, const char *what, int64_t index)
{
    if (isnan(expected) ? isnan(found) : found == expected && signbit(found) == signbit(expected))
        return;
    fail_msg("%s[%" PRId64 "] is %.9g, expected %.9g", what, index, found, expected);
}

/* Equal within a relative error of f32 computation and of rounding to `dtype`. */
static void assert_near(double found, double expected, uint32_t dtype, const char *what,
                        int64_t index)
{
    double ulp = dtype == SKRT_f16 ? 0x1p-11 : dtype == SKRT_bf16 ? 0x1p-8 : 0;
    if (isnan(expected) ? isnan(found)
                        : fabs(found - expected) <= fabs(expected) * (ulp + 4e-6) + 0x1p-25)
        return;
    fail_msg("%s[%" PRId64 "] is %.9g, expected %.9g", what, index, found, expected);
}

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
        double y = sign == '+' ? a + b : sign == '*' ? a * b : (double)powf((float)a, (float)b);
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
        check_binary(mul, '*', ints[i], false);
    }
}

static void put_specials(struct op *op, unsigned tensor)
{
    const float f32[] = {INFINITY, -INFINITY, NAN, 0, -0.0f, 0x1p-149f, 0x1.fffffep127f, 5e-8f};
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

static int64_t saturate(double value, int64_t low, int64_t high)
{
    if (isnan(value))
        return 0;
    value = nearbyint(value);
    if (value >= 0x1p63 || (value > 0 && (int64_t)value > high))
        return high;
    return value < -0x1p63 || (int64_t)value < low ? low : (int64_t)value;
}

static int64_t cast_float_to_int(double x, uint32_t to)
{
    switch (to) {
    case SKRT_bool: return x != 0;
    case SKRT_i8: return saturate(x, -128, 127);
    case SKRT_u8: return saturate(x, 0, 255);
    case SKRT_i16: return saturate(x, -32768, 32767);
    case SKRT_i32: return saturate(x, INT32_MIN, INT32_MAX);
    default: return saturate(x, INT64_MIN, INT64_MAX);
    }
}

static bool is_float(uint32_t dtype)
{
    return dtype == SKRT_f32 || dtype == SKRT_f16 || dtype == SKRT_bf16;
}

static void check_cast(const struct op *op)
{
    uint32_t from = op->tensors[0].dtype, to = op->tensors[1].dtype;
    int bits = to == SKRT_f32 ? 24 : to == SKRT_f16 ? 11 : 8;
    for (int64_t i = 0; i < op_elements(op, 0); i++) {
        if (is_float(from) && is_float(to)) {
            assert_value(op_get(op, 1, i), round_to_dtype(op_get(op, 0, i), to), "y", i);
        } else if (is_float(from)) {
            int64_t expected = cast_float_to_int(op_get(op, 0, i), to);
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

/* Values of all magnitudes, among them halves between integers. */
static void fill_cast(struct op *op)
{
    uint32_t dtype = op->tensors[0].dtype;
    op_fill(op, 0);
    for (int64_t i = 0; i < op_elements(op, 0); i++) {
        unsigned shift = (unsigned)(random_bits() % 64);
        if (!is_float(dtype))
            put_int(op->data[0], dtype, i, (int64_t)random_bits() >> shift);
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
    {0, 1, 1, 1, false, false, false},    {0, 65, 129, 33, false, false, false},
    {0, 65, 129, 33, true, false, false}, {0, 65, 129, 33, false, true, false},
    {0, 67, 31, 45, true, true, false},   {3, 5, 17, 9, false, false, false},
    {3, 5, 17, 9, true, true, false},     {0, 5, 0, 9, false, false, false},
    {0, 0, 3, 9, false, false, false},    {0, 33, 70, 41, false, false, true},
    {0, 33, 70, 41, true, true, true},    {0, 130, 300, 70, false, false, false},
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

static void test_matmul(void **state)
{
    (void)state;
    for (size_t c = 0; c < COUNT(matmul_cases); c++)
        for (size_t d = 0; d < 3; d++) {
            run_matmul(&matmul_cases[c], float_dtypes[d], float_dtypes[d]);
            if (d > 0)
                run_matmul(&matmul_cases[c], float_dtypes[d], SKRT_f32);
        }
}

/* ----------------------------------------------------------------- QuantBatchMatmulV3 ---- */

static void build_quant_matmul(struct op *op, int64_t m, int64_t k, int64_t n, uint32_t result)
{
    op_add_random(op, SKRT_i8, DIMS(m, k));
    op_add_random(op, SKRT_i8, DIMS(k, n));
    op_add_random(op, SKRT_f32, DIMS(n));
    op_add_random(op, SKRT_f32, DIMS(m));
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
            float y = (float)(int32_t)(uint32_t)sum;
            y *= (float)op_get(op, 2, j);
            y *= (float)op_get(op, 3, i);
            double expected = round_to_dtype(y, op->tensors[4].dtype);
            assert_value(op_get(op, 4, i * n + j), expected, "y", i * n + j);
        }
}

static void test_quant_matmul(void **state)
{
    (void)state;
    const int64_t shapes[][3] = {{1, 1, 1},    {3, 5, 7},      {4, 16, 32},   {129, 257, 65},
                                 {37, 300, 3}, {300, 19, 400}, {5, 0, 6},     {0, 5, 6},
                                 {5, 6, 0},    {2, 520, 127},  {1, 140000, 1}};
    for (size_t s = 0; s < COUNT(shapes); s++)
        for (int nz = 0; nz < 2; nz++) {
            struct op op = {0};
            build_quant_matmul(&op, shapes[s][0], shapes[s][1], shapes[s][2],
                               s % 2 == 0 ? SKRT_bf16 : SKRT_f16);
            if (nz)
                op_to_nz(&op, 1);
            op_run(&op, quant_matmul, 4);
            check_quant_matmul(&op);
            op_free(&op);
        }
}

/* 140000 products of 2^14 are more than 2^31: the sum wraps. */
static void test_quant_matmul_wraps(void **state)
{
    (void)state;
    struct op op = {0};
    build_quant_matmul(&op, 2, 140000, 3, SKRT_bf16);
    memset(op.data[0], 0x80, op.bytes[0]);
    memset(op.data[1], 0x80, op.bytes[1]);
    op_run(&op, quant_matmul, 4);
    check_quant_matmul(&op);
    op_free(&op);
}

/* ------------------------------------------------------------------------ row-wise ops ---- */

static double swiglu_value(const struct op *op, int64_t row, int64_t column, bool left)
{
    int64_t half = op->tensors[2].dims[1], first = left ? column : half + column;
    int64_t second = left ? half + column : column;
    double a = op_get(op, 0, row * 2 * half + first) * op_get(op, 1, first);
    double b = op_get(op, 0, row * 2 * half + second) * op_get(op, 1, second);
    return a / (1 + exp(-a)) * b;
}

static void check_swiglu_row(const struct op *op, int64_t row, bool left)
{
    int64_t half = op->tensors[2].dims[1];
    double max = 0, scale = op_get(op, 3, row);
    for (int64_t i = 0; i < half; i++)
        max = fmax(max, fabs(swiglu_value(op, row, i, left)));
    assert_near(scale, max / 127, SKRT_f32, "scale", row);
    for (int64_t i = 0; i < half; i++) {
        double exact = scale == 0 ? 0 : swiglu_value(op, row, i, left) / scale;
        double distance = fabs(op_get(op, 2, row * half + i) - exact);
        if (!(distance <= 0.5 + 1e-3))
            fail_msg("y[%" PRId64 ", %" PRId64 "] is %g, expected %g", row, i,
                     op_get(op, 2, row * half + i), exact);
    }
}

static void run_swiglu(int64_t m, int64_t half, uint32_t dtype, int activate_left)
{
    struct op op = {0};
    op_add_random(&op, dtype, DIMS(m, 2 * half));
    op_add_random(&op, SKRT_f32, DIMS(2 * half));
    op_add(&op, SKRT_i8, DIMS(m, half));
    op_add(&op, SKRT_f32, DIMS(m));
    if (dtype == SKRT_i32)
        for (int64_t i = 0; i < 2 * half; i++)
            ((float *)op.data[1])[i] *= 0x1p-30f;
    if (m > 1) /* a row of zeros */
        memset(op.data[0], 0, (size_t)(2 * half) * dtype_size(dtype));
    if (activate_left >= 0)
        op_add_attr(&op, "activate_left", activate_left);
    op_run(&op, (struct subject){NULL, dequant_swiglu_quant}, 2);
    for (int64_t row = 0; row < m; row++)
        check_swiglu_row(&op, row, activate_left != 0);
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
    op_add(&op, SKRT_i8, DIMS(1, half));
    op_add(&op, SKRT_f32, DIMS(1));
    for (int64_t i = 0; i < half; i++) {
        ((float *)op.data[0])[i] = 64; /* silu(64) is 64 in f32 */
        ((float *)op.data[0])[half + i] = (float)second[i];
        ((float *)op.data[1])[i] = ((float *)op.data[1])[half + i] = 1;
    }
    op_run(&op, (struct subject){NULL, dequant_swiglu_quant}, 2);
    for (int64_t i = 0; i < half; i++)
        assert_int_equal((int8_t)op.data[2][i], expected[i]);
    assert_value(op_get(&op, 3, 0), 64, "scale", 0);
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
    op_launch(&op, (struct subject){mat_mul, NULL}, 3);
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

static int suite_open(void **state)
{
    (void)state;
    const char *seed = getenv("SKIR_TEST_SEED");
    random_state = seed != NULL ? strtoull(seed, NULL, 0) : 1;
    print_message("# seed %" PRIu64 "\n", random_state);
    struct skrt_device_config config = {.aic = 24, .aiv = 48, .threads = 2};
    device = skrt_device_open(&config);
    return device != NULL ? 0 : -1;
}

static int suite_close(void **state)
{
    (void)state;
    skrt_device_close(device);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_binary),
        cmocka_unit_test(test_predicates),
        cmocka_unit_test(test_cast),
        cmocka_unit_test(test_cast_halves),
        cmocka_unit_test(test_matmul),
        cmocka_unit_test(test_quant_matmul),
        cmocka_unit_test(test_quant_matmul_wraps),
        cmocka_unit_test(test_swiglu),
        cmocka_unit_test(test_swiglu_ties),
        cmocka_unit_test(test_rms_norm),
        cmocka_unit_test(test_softmax),
        cmocka_unit_test(test_wrong_tiling),
    };
    return cmocka_run_group_tests(tests, suite_open, suite_close);
}
