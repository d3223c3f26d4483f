/* Tensors: contents by SPEC, FRACTAL_NZ, and what messages say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/tensor/tensor.h"
#include "tests/unit/tensor_helpers.h"

/* Fills by a wrong SPEC. */
static void check_refused(enum dtype dtype, const char *spec, const char *expected)
{
    struct tensor tensor = make(dtype, DIMS(3, 2));
    char error[ERROR_SIZE] = "";
    assert_false(tensor_fill(&tensor, spec, 1, error, sizeof error));
    assert_string_equal(error, expected);
    tensor_free(&tensor);
}

/* ----------------------------------------------------------------------- conversion ---- */

/* The two neighbours of a value are found by searching all numbers of the format, so that nothing
 * is shared with float_encode. */
static uint64_t slow_encode(struct float_format format, double value)
{
    uint64_t best = 0;
    double distance = INFINITY, magnitude = fabs(value);
    for (uint64_t bits = 0; bits <= float_greatest(format); bits++) {
        double d = fabs(float_decode(format, bits) - magnitude);
        if (d < distance || (d == distance && bits % 2 == 0)) {
            best = bits;
            distance = d;
        }
    }
    return best | (signbit(value) ? float_sign(format) : 0);
}

static void test_encode_decode(void **state)
{
    (void)state;
    const enum dtype dtypes[] = {DTYPE_f16, DTYPE_bf16, DTYPE_f8e5m2, DTYPE_f8e4m3fn};
    for (size_t i = 0; i < COUNT(dtypes); i++) {
        struct float_format format;
        assert_true(dtype_float_format(dtypes[i], &format));
        for (uint64_t bits = 0; bits < 2 * float_sign(format); bits++)
            if (float_is_finite(format, bits)) {
                assert_int_equal(float_encode(format, float_decode(format, bits)), bits);
            } else {
                double value =
                    float_decode(format, float_encode(format, float_decode(format, bits)));
                assert_true(isinf(float_decode(format, bits)) ? isinf(value) : isnan(value));
            }
        uint64_t half = float_encode(format, 1.5);
        for (uint64_t bits = half; bits < half + 4; bits++) {
            double low = float_decode(format, bits), high = float_decode(format, bits + 1);
            const double values[] = {(low + high) / 2, (3 * low + high) / 4,
                                     nextafter((low + high) / 2, 9), -(low + 3 * high) / 4};
            for (size_t j = 0; j < COUNT(values); j++)
                assert_int_equal(float_encode(format, values[j]), slow_encode(format, values[j]));
        }
        /* Below the least subnormal number, and ties there. */
        double least = float_decode(format, 1);
        assert_int_equal(float_encode(format, least / 2), 0);
        assert_int_equal(float_encode(format, nextafter(least / 2, 1)), 1);
        assert_int_equal(float_encode(format, least * 1.5), 2);
        assert_int_equal(float_encode(format, least * 2.5), 2);
        assert_int_equal(float_encode(format, DBL_MIN / 4), 0);
    }
}

static void test_encode_known(void **state)
{
    (void)state;
    const struct float_format f16 = {5, 10, false}, bf16 = {8, 7, false}, f32 = {8, 23, false};
    const struct float_format e4m3 = {4, 3, true};
    assert_int_equal(float_encode(f16, 1), 0x3c00);
    assert_int_equal(float_encode(f16, -2), 0xc000);
    assert_int_equal(float_encode(f16, 65504), 0x7bff);
    assert_int_equal(float_encode(f16, 65519.99), 0x7bff);
    assert_int_equal(float_encode(f16, 65520), 0x7c00);
    assert_int_equal(float_encode(f16, NAN) & 0x7fff, 0x7e00);
    assert_int_equal(float_encode(bf16, 1), 0x3f80);
    assert_int_equal(float_encode(bf16, 3.14159), 0x4049);
    assert_int_equal(float_encode(e4m3, 448), 0x7e);
    assert_int_equal(float_encode(e4m3, 1000), 0x7f);
    assert_int_equal(float_encode(e4m3, 1), 0x38);
    const double values[] = {0.1, -1e-40, 3e38, 1e39, 16777217, 1.00000005960464477539};
    for (size_t i = 0; i < COUNT(values); i++) {
        float single = (float)values[i];
        uint32_t bits;
        memcpy(&bits, &single, sizeof bits);
        assert_int_equal(float_encode(f32, values[i]), bits);
    }
}

/* ----------------------------------------------------------------------------- init ---- */

static void check_no_tensor(enum dtype dtype, const int64_t *dims, uint32_t rank,
                            const char *expected)
{
    struct tensor tensor;
    char error[ERROR_SIZE] = "";
    assert_false(tensor_init(&tensor, dtype, dims, rank, error, sizeof error));
    assert_string_equal(error, expected);
}

static void test_init(void **state)
{
    (void)state;
    struct tensor tensor = make(DTYPE_f32, DIMS(3, 5));
    assert_int_equal(tensor.size, 60);
    assert_int_equal((uintptr_t)tensor.data % 64, 0);
    for (size_t i = 0; i < tensor.size; i++)
        assert_int_equal(tensor.data[i], 0);
    tensor_free(&tensor);
    tensor = make(DTYPE_i8, NULL, 0);
    assert_int_equal(tensor.size, 1);
    tensor_free(&tensor);
    tensor = make(DTYPE_i64, DIMS(INT64_MAX, 0, INT64_MAX));
    assert_int_equal(tensor.size, 0);
    assert_non_null(tensor.data);
    tensor_free(&tensor);
    check_no_tensor(DTYPE_i4, DIMS(2),
                    "dtype i4 has elements below a byte, which are not supported");
    check_no_tensor(DTYPE_c32, DIMS(2), "dtype c32 is not supported");
    check_no_tensor(DTYPE_string, DIMS(2), "dtype string is not supported");
    check_no_tensor(DTYPE_f32, DIMS(2, DIM_UNKNOWN), "dimension 1 is not static");
    check_no_tensor(DTYPE_f32, DIMS(1, 1, 1, 1, 1, 1, 1, 1, 1),
                    "a tensor of 9 dimensions; at most 8 are supported");
    check_no_tensor(DTYPE_f16, DIMS(INT64_MAX, 2),
                    "a tensor [9223372036854775807, 2] of f16 is too large");
    check_no_tensor(DTYPE_u8, DIMS(INT64_MAX), "a tensor [9223372036854775807] of u8 is too large");
}

/* ---------------------------------------------------------------------------- specs ---- */

static void check_text(const struct tensor *tensor, uint64_t index, const char *expected)
{
    char text[128];
    tensor_element_text(tensor, index, text, sizeof text);
    assert_string_equal(text, expected);
}

static void test_constants(void **state)
{
    (void)state;
    for (unsigned i = 0; i < DTYPE_COUNT; i++) {
        if (!has_values((enum dtype)i))
            continue;
        enum dtype_class class = dtype_info((enum dtype)i)->class;
        bool is_bool = class == CLASS_BOOL, is_complex = class == CLASS_COMPLEX;
        struct tensor tensor = make((enum dtype)i, DIMS(2, 3));
        fill(&tensor, "ones", 0);
        check_text(&tensor, 5, is_bool ? "true" : is_complex ? "(1, 0)" : "1");
        fill(&tensor, "zeros", 0);
        check_text(&tensor, 0, is_bool ? "false" : is_complex ? "(0, 0)" : "0");
        tensor_free(&tensor);
    }
}

static double float_at(const struct tensor *tensor, uint64_t index)
{
    struct float_format format;
    uint64_t bits = 0;
    assert_true(dtype_float_format(tensor->dtype, &format));
    size_t item = (1u + format.exponent + format.fraction) / 8;
    memcpy(&bits, tensor->data + index * item, item);
    return float_decode(format, bits);
}

static void test_random_floats(void **state)
{
    (void)state;
    const enum dtype dtypes[] = {DTYPE_f16, DTYPE_bf16, DTYPE_f32,    DTYPE_f64,
                                 DTYPE_c64, DTYPE_c128, DTYPE_f8e5m2, DTYPE_f8e4m3fn};
    for (size_t i = 0; i < COUNT(dtypes); i++) {
        struct tensor tensor = make(dtypes[i], DIMS(100, 100));
        size_t parts = dtype_info(dtypes[i])->class == CLASS_COMPLEX ? 20000 : 10000;
        fill(&tensor, "rand:-2..6", 7);
        double sum = 0, low = 9, high = -9;
        for (size_t j = 0; j < parts; j++) {
            double value = float_at(&tensor, j);
            sum += value;
            low = value < low ? value : low;
            high = value > high ? value : high;
        }
        assert_true(low >= -2 && low < -1.9 && high < 6 && high >= 5);
        assert_true(fabs(sum / (double)parts - 2) < 0.2);
        fill(&tensor, "rand:-6..-2", 7);
        for (size_t j = 0; j < parts; j++)
            assert_true(float_at(&tensor, j) >= -6 && float_at(&tensor, j) < -2);
        fill(&tensor, "rand:.25...25", 7);
        assert_true(float_at(&tensor, 3) == 0.25);
        tensor_free(&tensor);
    }
}

static void test_random_extremes(void **state)
{
    (void)state;
    struct tensor tensor = make(DTYPE_f64, DIMS(1000));
    fill(&tensor, "rand:-1.7976931348623157e308..1.7976931348623157e308", 1);
    unsigned negative = 0;
    for (size_t i = 0; i < 1000; i++) {
        assert_true(isfinite(float_at(&tensor, i)));
        negative += float_at(&tensor, i) < 0;
    }
    assert_in_range(negative, 400, 600);
    tensor_free(&tensor);
    /* Two numbers and nothing between them: all but the low one is outside of [LO, HI). */
    tensor = make(DTYPE_f16, DIMS(1000));
    fill(&tensor, "rand:2048..2050", 1);
    for (size_t i = 0; i < 1000; i++)
        assert_true(float_at(&tensor, i) == 2048);
    fill(&tensor, "rand:-6e-8..0", 1);
    for (size_t i = 0; i < 1000; i++)
        assert_true(float_at(&tensor, i) == -0x1p-24);
    tensor_free(&tensor);
}

static void test_random_integers(void **state)
{
    (void)state;
    struct tensor tensor = make(DTYPE_i8, DIMS(3000));
    unsigned counts[256] = {0};
    fill(&tensor, "rand:-1..1", 3);
    for (size_t i = 0; i < 3000; i++)
        counts[tensor.data[i]]++;
    assert_int_equal(counts[0] + counts[1] + counts[255], 3000);
    assert_true(counts[0] > 900 && counts[1] > 900 && counts[255] > 900);
    fill(&tensor, "rand:-128..127", 3);
    memset(counts, 0, sizeof counts);
    for (size_t i = 0; i < 3000; i++)
        counts[tensor.data[i]]++;
    assert_true(counts[128] > 0 && counts[127] > 0);
    tensor_free(&tensor);
    tensor = make(DTYPE_i64, DIMS(64));
    fill(&tensor, "rand:-9223372036854775808..9223372036854775807", 3);
    assert_memory_not_equal(tensor.data, tensor.data + 256, 256);
    fill(&tensor, "rand:-9223372036854775808..-9223372036854775808", 3);
    check_text(&tensor, 63, "-9223372036854775808");
    tensor_free(&tensor);
    tensor = make(DTYPE_u64, DIMS(4));
    fill(&tensor, "rand:18446744073709551615..18446744073709551615", 3);
    check_text(&tensor, 3, "18446744073709551615");
    tensor_free(&tensor);
    tensor = make(DTYPE_bool, DIMS(1000));
    fill(&tensor, "rand:0..1", 3);
    unsigned ones = 0;
    for (size_t i = 0; i < 1000; i++) {
        assert_in_range(tensor.data[i], 0, 1);
        ones += tensor.data[i];
    }
    assert_in_range(ones, 400, 600);
    tensor_free(&tensor);
}

/* The values are part of the contract: golden files depend on them. */
static void test_random_is_stable(void **state)
{
    (void)state;
    struct tensor a = make(DTYPE_f32, DIMS(8)), b = make(DTYPE_f32, DIMS(2, 2));
    uint64_t elements;
    fill(&a, "rand:0..1:42", 1);
    fill(&b, "rand:0..1", 42);
    assert_memory_equal(a.data, b.data, b.size);
    check_text(&a, 0, "0.3432919");
    check_text(&a, 7, "0.73472047");
    tensor_free(&b);
    b = make(DTYPE_f32, DIMS(8));
    fill(&b, "rand:0..1:43", 1);
    assert_int_equal(tensor_first_difference(&a, &b, &elements), 0);
    assert_int_equal(elements, 8);
    tensor_free(&a);
    tensor_free(&b);
}

static void check_filled(enum dtype dtype, const char *spec, const char *first, const char *last)
{
    struct tensor tensor = make(dtype, DIMS(20, 15));
    fill(&tensor, spec, 0);
    check_text(&tensor, 0, first);
    check_text(&tensor, 299, last);
    tensor_free(&tensor);
}

static void test_numbers(void **state)
{
    (void)state;
    check_filled(DTYPE_f32, "2.5", "2.5", "2.5");
    check_filled(DTYPE_f16, "0.1", "0.1", "0.1");
    check_filled(DTYPE_f64, "-1e300", "-1e+300", "-1e+300");
    check_filled(DTYPE_f32, ".5", "0.5", "0.5");
    check_filled(DTYPE_bf16, "nan", "nan(0x7fc0)", "nan(0x7fc0)");
    check_filled(DTYPE_f8e4m3fn, "nan", "nan(0x7f)", "nan(0x7f)");
    check_filled(DTYPE_f16, "-inf", "-inf", "-inf");
    check_filled(DTYPE_c64, "3", "(3, 0)", "(3, 0)");
    check_filled(DTYPE_i8, "-128", "-128", "-128");
    check_filled(DTYPE_u64, "18446744073709551615", "18446744073709551615", "18446744073709551615");
    check_filled(DTYPE_i64, "1e18", "1000000000000000000", "1000000000000000000");
    check_filled(DTYPE_i64, "-9.223372036854775808e18", "-9223372036854775808",
                 "-9223372036854775808");
    check_filled(DTYPE_u64, "1.8446744073709551615E+19", "18446744073709551615",
                 "18446744073709551615");
    check_filled(DTYPE_i8, "120.0e-1", "12", "12");
    check_filled(DTYPE_i8, "0e999999999999", "0", "0");
    check_filled(DTYPE_bool, "true", "true", "true");
    check_filled(DTYPE_bool, "0", "false", "false");
}

static void test_arange(void **state)
{
    (void)state;
    check_filled(DTYPE_f32, "arange", "0", "299");
    check_filled(DTYPE_f16, "arange:2000", "2000", "2300"); /* 2299 is a tie */
    check_filled(DTYPE_f16, "arange:65400", "65408", "inf");
    check_filled(DTYPE_f8e4m3fn, "arange:400", "384", "nan(0x7f)");
    check_filled(DTYPE_f64, "arange:0:0.1", "0", "29.900000000000002");
    check_filled(DTYPE_c128, "arange:1:-1", "(1, 0)", "(-298, 0)");
    check_filled(DTYPE_i8, "arange", "0", "43");
    check_filled(DTYPE_u8, "arange:255:-1", "255", "212");
    check_filled(DTYPE_i64, "arange:-9223372036854775808:2", "-9223372036854775808",
                 "-9223372036854775210");
}

/* Bits that must be the same on every machine. Those of the quantiles are the nearest doubles to
 * values found with 50 digits, or a neighbour of them. */
static void test_normal(void **state)
{
    (void)state;
    assert_true(normal_quantile(0.5) == 0);
    assert_true(fabs(normal_quantile(0.975) - 1.959963984540054) < 1e-15);
    assert_true(fabs(normal_quantile(1e-3) + 3.090232306167814) < 2e-15);
    assert_true(fabs(normal_quantile(0x1p-53) + 8.209536151601387) < 4e-15);
    struct tensor tensor = make(DTYPE_f32, DIMS(100, 100));
    fill(&tensor, "normal:7", 1);
    double sum = 0, squares = 0;
    unsigned beyond = 0;
    for (size_t i = 0; i < 10000; i++) {
        double value = float_at(&tensor, i);
        sum += value;
        squares += value * value;
        beyond += fabs(value) > 1.959964;
    }
    assert_true(fabs(sum / 10000) < 0.03 && fabs(squares / 10000 - 1) < 0.05);
    assert_in_range(beyond, 430, 570);
    tensor_free(&tensor);
    tensor = make(DTYPE_f64, DIMS(3));
    fill(&tensor, "normal", 42);
    check_text(&tensor, 0, "-0.40349536446955686");
    check_text(&tensor, 1, "1.7033288326736677");
    check_text(&tensor, 2, "-0.03422331773865488");
    tensor_free(&tensor);
}

static void test_wrong_specs(void **state)
{
    (void)state;
#define FORMS                                                                                      \
    " is none of FILE.npy, a number, arange[:START[:STEP]], normal[:SEED], rand:LO..HI[:SEED], "   \
    "ones or zeros"
    check_refused(DTYPE_f32, "", "''" FORMS);
    check_refused(DTYPE_f32, "one", "'one'" FORMS "; did you mean 'ones'?");
    check_refused(DTYPE_f32, "zeroes", "'zeroes'" FORMS "; did you mean 'zeros'?");
    check_refused(DTYPE_f32, "rand", "'rand'" FORMS "; did you mean 'rand:LO..HI'?");
    check_refused(DTYPE_f32, "rnad:0..1", "'rnad:0..1'" FORMS "; did you mean 'rand:LO..HI'?");
    check_refused(DTYPE_f32, "data.bin", "'data.bin'" FORMS);
    check_refused(DTYPE_f32, "ones:2", "'ones:2'" FORMS "; did you mean 'ones'?");
    check_refused(DTYPE_f32, "arrange", "'arrange'" FORMS "; did you mean 'arange'?");
    check_refused(DTYPE_f32, "nromal:3", "'nromal:3'" FORMS "; did you mean 'normal'?");
    check_refused(DTYPE_f32, ".npy", "'.npy'" FORMS);
#undef FORMS
#define RANGE " has no range: it is rand:LO..HI or rand:LO..HI:SEED"
    check_refused(DTYPE_f32, "rand:", "'rand:'" RANGE);
    check_refused(DTYPE_f32, "rand:0,1", "'rand:0,1'" RANGE);
    check_refused(DTYPE_f32, "rand:..1", "'rand:..1'" RANGE);
    check_refused(DTYPE_f32, "rand:0..", "'rand:0..'" RANGE);
    check_refused(DTYPE_f32, "rand:0..:1", "'rand:0..:1'" RANGE);
#undef RANGE
    check_refused(DTYPE_f32, "rand:0..1x", "'1x' in 'rand:0..1x' is no number");
    check_refused(DTYPE_f32, "rand:nan..1", "'nan' in 'rand:nan..1' is no number");
    check_refused(DTYPE_f64, "rand:0..inf", "'inf' in 'rand:0..inf' is no number");
    check_refused(DTYPE_f32, "rand:0x1..2", "'0x1' in 'rand:0x1..2' is no number");
    check_refused(DTYPE_f32, "rand: 1..2", "' 1' in 'rand: 1..2' is no number");
    check_refused(DTYPE_f16, "rand:0..70000",
                  "'70000' in 'rand:0..70000' is out of the range of f16, which is 65504 at most");
    check_refused(DTYPE_f8e4m3fn, "rand:-500..0",
                  "'-500' in 'rand:-500..0' is out of the range of f8e4m3fn, which is 448 at most");
    check_refused(DTYPE_f64, "rand:0..1e999",
                  "'1e999' in 'rand:0..1e999' is out of the range of f64, which is 1.79769313e+308 "
                  "at most");
    check_refused(DTYPE_f32, "rand:2..1", "'rand:2..1' has its low end above its high end");
    check_refused(DTYPE_i32, "rand:1..-1", "'rand:1..-1' has its low end above its high end");
    check_refused(DTYPE_i32, "rand:0..0.5",
                  "'0.5' in 'rand:0..0.5' is no whole number, which i32 needs");
    check_refused(DTYPE_i32, "rand:-..5", "'-' in 'rand:-..5' is no whole number, which i32 needs");
    check_refused(DTYPE_u8, "rand:0..256",
                  "'256' in 'rand:0..256' is out of the range of u8, which is 0 to 255");
    check_refused(DTYPE_u8, "rand:-1..2",
                  "'-1' in 'rand:-1..2' is out of the range of u8, which is 0 to 255");
    check_refused(DTYPE_i8, "rand:-129..2",
                  "'-129' in 'rand:-129..2' is out of the range of i8, which is -128 to 127");
    check_refused(DTYPE_i64, "rand:0..18446744073709551616",
                  "'18446744073709551616' in 'rand:0..18446744073709551616' is out of the range of "
                  "i64, which is -9223372036854775808 to 9223372036854775807");
    check_refused(DTYPE_bool, "rand:0..2",
                  "'2' in 'rand:0..2' is out of the range of bool, which is 0 to 1");
    check_refused(DTYPE_f32, "rand:0..1:x",
                  "'x' in 'rand:0..1:x' is no seed, which is a whole number below 2^64");
    check_refused(DTYPE_f32, "rand:0..1:",
                  "'' in 'rand:0..1:' is no seed, which is a whole number below 2^64");
    check_refused(DTYPE_f32, "2x", "'2x' is no number");
    check_refused(DTYPE_f16, "1e5", "'1e5' is out of the range of f16, which is 65504 at most");
    check_refused(DTYPE_i8, "2.5", "'2.5' is no whole number, which i8 needs");
    check_refused(DTYPE_i8, "25e-1", "'25e-1' is no whole number, which i8 needs");
    check_refused(DTYPE_i8, "1e", "'1e' is no whole number, which i8 needs");
    check_refused(DTYPE_i8, "1e-", "'1e-' is no whole number, which i8 needs");
    check_refused(DTYPE_i8, "1e2x", "'1e2x' is no whole number, which i8 needs");
    check_refused(DTYPE_i8, "1e-999999999999",
                  "'1e-999999999999' is no whole number, which i8 needs");
    check_refused(DTYPE_i8, "1e3", "'1e3' is out of the range of i8, which is -128 to 127");
    check_refused(DTYPE_u64, "1e20",
                  "'1e20' is out of the range of u64, which is 0 to 18446744073709551615");
    check_refused(
        DTYPE_u64, "1e999999999999",
        "'1e999999999999' is out of the range of u64, which is 0 to 18446744073709551615");
    check_refused(DTYPE_i8, "nan", "'nan' is no whole number, which i8 needs");
    check_refused(DTYPE_f32, "true", "'true' is no number");
    check_refused(DTYPE_bool, "2", "'2' is out of the range of bool, which is 0 to 1");
    check_refused(DTYPE_f8e4m3fn, "inf", "'inf' is no number of this dtype: it has no infinity");
    check_refused(DTYPE_hif8, "1", "'1' cannot make values of dtype hif8");
    check_refused(DTYPE_f8e8m0, "normal", "'normal' cannot make values of dtype f8e8m0");
    check_refused(DTYPE_hif8, "arange", "'arange' cannot make values of dtype hif8");
    check_refused(DTYPE_f32,
                  "normal:", "'' in 'normal:' is no seed, which is a whole number below 2^64");
    check_refused(DTYPE_i32, "normal",
                  "'normal' makes fractions, which i32 does not have; rand:LO..HI makes whole "
                  "numbers");
    check_refused(DTYPE_bool, "arange",
                  "'arange' counts, which bool does not; rand:0..1 makes both of its values");
    check_refused(DTYPE_f32, "arange:",
                  "'arange:' has no start: it is arange, arange:START or arange:START:STEP");
    check_refused(DTYPE_f32, "arange:1:x", "'x' in 'arange:1:x' is no number");
    check_refused(DTYPE_i8, "arange:0.5",
                  "'0.5' in 'arange:0.5' is no whole number, which i8 needs");
    check_refused(DTYPE_i8, "arange:1:0.5",
                  "'0.5' in 'arange:1:0.5' is no whole number, as steps of integers are");
    check_refused(DTYPE_hif8, "rand:0..1", "'rand:0..1' cannot make values of dtype hif8");
    check_refused(DTYPE_f8e8m0, "zeros", "'zeros' cannot make values of dtype f8e8m0");
}

/* ----------------------------------------------------------------------- FRACTAL_NZ ---- */

/* Element by element, by the definition of the layout. */
static void check_nz(enum dtype dtype, const int64_t *dims, uint32_t rank)
{
    struct tensor nd = make(dtype, dims, rank), back = make(dtype, dims, rank);
    size_t item = dtype_info(dtype)->bits / 8, c0 = 32 / item, size, batches = 1;
    size_t rows = (size_t)dims[rank - 2], columns = (size_t)dims[rank - 1];
    size_t row_groups = (rows + 15) / 16, groups = (columns + c0 - 1) / c0;
    for (uint32_t i = 0; i + 2 < rank; i++)
        batches *= (size_t)dims[i];
    for (size_t i = 0; i < nd.size; i++)
        nd.data[i] = (unsigned char)(i * 7 % 255 + 1); /* never zero, as padding is */
    assert_true(tensor_nz_size(&nd, &size));
    assert_int_equal(size, batches * groups * row_groups * 16 * 32);
    unsigned char *storage = malloc(size + 1);
    memset(storage, 0xee, size + 1);
    tensor_to_nz(&nd, storage);
    assert_int_equal(storage[size], 0xee);
    static const unsigned char zeros[16];
    for (size_t i = 0; i < size / item; i++) {
        size_t column_in = i % c0, row_in = i / c0 % 16, row_group = i / c0 / 16 % row_groups;
        size_t group = i / c0 / 16 / row_groups % groups, batch = i / (size / item / batches);
        size_t row = row_group * 16 + row_in, column = group * c0 + column_in;
        bool inside = row < rows && column < columns;
        const unsigned char *expected =
            inside ? nd.data + ((batch * rows + row) * columns + column) * item : zeros;
        assert_memory_equal(storage + i * item, expected, item);
    }
    tensor_from_nz(&back, storage);
    check_same(&nd, &back);
    free(storage);
    tensor_free(&nd);
    tensor_free(&back);
}

static void test_nz(void **state)
{
    (void)state;
    const enum dtype dtypes[] = {DTYPE_i8, DTYPE_bf16, DTYPE_f32, DTYPE_i64, DTYPE_c128};
    for (size_t i = 0; i < COUNT(dtypes); i++) {
        check_nz(dtypes[i], DIMS(1, 1));
        check_nz(dtypes[i], DIMS(16, 32));
        check_nz(dtypes[i], DIMS(17, 33));
        check_nz(dtypes[i], DIMS(5, 70));
        check_nz(dtypes[i], DIMS(2, 3, 31, 7));
    }
    struct tensor tensor = make(DTYPE_f32, DIMS(4));
    size_t size = 1;
    assert_false(tensor_nz_size(&tensor, &size));
    tensor_free(&tensor);
    tensor = make(DTYPE_f32, DIMS(4, 0));
    assert_true(tensor_nz_size(&tensor, &size));
    assert_int_equal(size, 0);
    tensor_to_nz(&tensor, NULL);
    tensor_from_nz(&tensor, NULL);
    tensor_free(&tensor);
}

/* ------------------------------------------------------------------ differences, text ---- */

static void test_first_difference(void **state)
{
    (void)state;
    struct tensor a = make(DTYPE_f32, DIMS(37, 101)), b = make(DTYPE_f32, DIMS(37, 101));
    uint64_t elements;
    assert_int_equal(tensor_first_difference(&a, &b, &elements), 37 * 101);
    assert_int_equal(elements, 37 * 101);
    const uint64_t at[] = {37 * 101 - 1, 2048, 1024, 1023, 0};
    for (size_t i = 0; i < COUNT(at); i++) {
        b.data[at[i] * 4 + 3] = 0x80; /* -0: bytes count, not values */
        assert_int_equal(tensor_first_difference(&a, &b, &elements), at[i]);
    }
    tensor_free(&a);
    tensor_free(&b);
}

static void test_texts(void **state)
{
    (void)state;
    struct tensor tensor = make(DTYPE_f32, DIMS(2, 3, 4));
    const float values[] = {0.1f, -0.0f, INFINITY, 16777216.0f, 1e-45f, 3.4028235e38f, 0.3f - 0.1f};
    char text[64];
    memcpy(tensor.data, values, sizeof values);
    const char *const expected[] = {"0.1", "-0", "inf", "16777216", "1e-45", "3.4028235e+38"};
    for (size_t i = 0; i < COUNT(expected); i++) {
        tensor_element_text(&tensor, i, text, sizeof text);
        assert_true(strtof(text, NULL) == values[i]);
        if (i != 3)
            assert_string_equal(text, expected[i]);
    }
    memcpy(tensor.data, &(uint32_t){0x7fc00001}, 4);
    check_text(&tensor, 0, "nan(0x7fc00001)");
    tensor_index_text(&tensor, 0, text, sizeof text);
    assert_string_equal(text, "[0, 0, 0]");
    tensor_index_text(&tensor, 23, text, sizeof text);
    assert_string_equal(text, "[1, 2, 3]");
    tensor_index_text(&tensor, 13, text, 4);
    assert_string_equal(text, "[1,");
    tensor_free(&tensor);
    tensor = make(DTYPE_i16, NULL, 0);
    memcpy(tensor.data, &(int16_t){-300}, 2);
    check_text(&tensor, 0, "-300");
    tensor_index_text(&tensor, 0, text, sizeof text);
    assert_string_equal(text, "[]");
    tensor_free(&tensor);
    tensor = make(DTYPE_f16, DIMS(1));
    memcpy(tensor.data, &(uint16_t){0x2e66}, 2);
    check_text(&tensor, 0, "0.1");
    tensor_free(&tensor);
    tensor = make(DTYPE_hif8, DIMS(1));
    check_text(&tensor, 0, "0x00");
    tensor_free(&tensor);
    tensor = make(DTYPE_c64, DIMS(1));
    memcpy(tensor.data, (float[]){1.5f, -2}, 8);
    check_text(&tensor, 0, "(1.5, -2)");
    tensor_free(&tensor);
}

static struct attr_value float_number(double f)
{
    return (struct attr_value){.kind = ATTR_FLOAT, .f = f};
}

/* Numbers of dtypes that no .npy file has. */
static void test_fill_numbers(void **state)
{
    (void)state;
    struct tensor tensor;
    char error[160];
    const int64_t dims[] = {4};
    const struct attr_value numbers[] = {
        float_number(448), float_number(-1), float_number(NAN), {.kind = ATTR_INT, .i = 17}};
    const struct contents list = {.numbers = numbers, .count = 4};
    assert_true(tensor_init(&tensor, DTYPE_f8e4m3fn, dims, 1, error, sizeof error));
    assert_true(tensor_fill_numbers(&tensor, &list, error, sizeof error));
    assert_memory_equal(tensor.data, "\x7e\xb8\x7f\x58", 4);
    tensor_free(&tensor);
    assert_true(tensor_init(&tensor, DTYPE_hif8, dims, 1, error, sizeof error));
    assert_false(tensor_fill_numbers(&tensor, &list, error, sizeof error));
    tensor_free(&tensor);
}

/* What does not fit is known before it is rounded to something that would. */
static void test_number_fit(void **state)
{
    (void)state;
    uint64_t bits;
    static const struct {
        enum dtype dtype;
        struct attr_value number;
        enum number_fit fit;
    } cases[] = {
        {DTYPE_i4, {.kind = ATTR_INT, .i = 7}, NUMBER_FITS},
        {DTYPE_i4, {.kind = ATTR_INT, .i = 8}, NUMBER_TOO_LARGE},
        {DTYPE_i4, {.kind = ATTR_INT, .i = -9}, NUMBER_TOO_LARGE},
        {DTYPE_u1, {.kind = ATTR_INT, .i = 1}, NUMBER_FITS},
        {DTYPE_u64, {.kind = ATTR_INT, .i = -1}, NUMBER_TOO_LARGE},
        {DTYPE_i64, {.kind = ATTR_INT, .i = INT64_MIN}, NUMBER_FITS},
        {DTYPE_f8e4m3fn, {.kind = ATTR_FLOAT, .f = HUGE_VAL}, NUMBER_TOO_LARGE},
        {DTYPE_f8e5m2, {.kind = ATTR_FLOAT, .f = HUGE_VAL}, NUMBER_FITS},
        {DTYPE_f32, {.kind = ATTR_INT, .i = INT64_MAX}, NUMBER_FITS},
        {DTYPE_f16, {.kind = ATTR_INT, .i = 65520}, NUMBER_TOO_LARGE},
        {DTYPE_f16, {.kind = ATTR_BOOL, .i = 1}, NUMBER_WRONG_KIND},
        {DTYPE_c64, {.kind = ATTR_INT, .i = 1}, NUMBER_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(number_encode(cases[i].dtype, &cases[i].number, &bits), cases[i].fit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fill_numbers),
        cmocka_unit_test(test_number_fit),
        cmocka_unit_test(test_encode_decode),
        cmocka_unit_test(test_encode_known),
        cmocka_unit_test(test_init),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_random_floats),
        cmocka_unit_test(test_random_extremes),
        cmocka_unit_test(test_random_integers),
        cmocka_unit_test(test_random_is_stable),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_arange),
        cmocka_unit_test(test_normal),
        cmocka_unit_test(test_wrong_specs),
        cmocka_unit_test(test_nz),
        cmocka_unit_test(test_first_difference),
        cmocka_unit_test(test_texts),
    };
    return cmocka_run_group_tests_name("tensor", tests, NULL, NULL);
}
