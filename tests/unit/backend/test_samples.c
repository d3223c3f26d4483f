/* What times of runs allow to say. */
#include "frontend/run/samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static uint64_t state;

/* In [0, 1). */
static double random_number(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-53;
}

static void assert_near(double a, double b)
{
    assert_true(a - b < 1e-12 && b - a < 1e-12);
}

static void test_quantiles(void **unused)
{
    (void)unused;
    struct samples samples = {NULL, 0, 0};
    vec_push(&samples, 5);
    assert_near(samples_quantile(&samples, 0), 5);
    assert_near(samples_quantile(&samples, 0.5), 5);
    assert_near(samples_spread(&samples), 0);
    vec_push(&samples, 1);
    vec_push(&samples, 2);
    vec_push(&samples, 4);
    assert_near(samples_quantile(&samples, 0), 1);
    assert_near(samples_quantile(&samples, 0.5), 3);
    assert_near(samples_quantile(&samples, 1), 5);
    assert_near(samples_spread(&samples), 4.25 - 1.75);
    vec_free(&samples);
}

/* Pairs that have noise in common, and noise of their own that is skewed as times are. */
static struct ratio compare(uint32_t pairs, double factor, double noise)
{
    struct samples a = {NULL, 0, 0}, b = {NULL, 0, 0};
    for (uint32_t i = 0; i < pairs; i++) {
        double common = 1 + random_number(), own = random_number(), other = random_number();
        vec_push(&a, factor * common * (1 + noise * own * own));
        vec_push(&b, common * (1 + noise * other * other));
    }
    struct ratio ratio = samples_ratio(&a, &b);
    vec_free(&a);
    vec_free(&b);
    return ratio;
}

static void test_too_few(void **unused)
{
    (void)unused;
    for (uint32_t pairs = 0; pairs < 8; pairs++)
        assert_false(compare(pairs, 2, 0).known);
    assert_true(compare(8, 2, 0).known);
}

/* The ranks of the interval's ends. */
static void test_ranks(void **unused)
{
    (void)unused;
    static const struct {
        uint32_t pairs, low, high; /* ranks from 0 */
    } rows[] = {{8, 0, 7}, {11, 0, 10}, {12, 1, 10}, {20, 3, 16}, {100, 36, 63}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct samples a = {NULL, 0, 0}, b = {NULL, 0, 0};
        for (uint32_t n = 0; n < rows[i].pairs; n++) {
            vec_push(&a, 1 + (n * 37 % rows[i].pairs));
            vec_push(&b, 1);
        }
        struct ratio ratio = samples_ratio(&a, &b);
        assert_near(ratio.low, 1 + rows[i].low);
        assert_near(ratio.high, 1 + rows[i].high);
        vec_free(&a);
        vec_free(&b);
    }
}

/* Equal ways are told apart in less than one case of a hundred, if one takes the interval alone. */
static void test_noise(void **unused)
{
    (void)unused;
    unsigned wrong = 0;
    state = 1;
    for (unsigned i = 0; i < 10000; i++) {
        struct ratio ratio = compare(9 + i % 92, 1, 0.5);
        wrong += ratio.low > 1 || ratio.high < 1;
    }
    assert_in_range(wrong, 1, 100);
}

static void test_difference(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < 100; i++) {
        struct ratio ratio = compare(100, 1.2, 0.1);
        assert_true(ratio.clear && ratio.low > 1.15 && ratio.high < 1.25);
        assert_true(ratio.low <= ratio.middle && ratio.middle <= ratio.high);
        assert_true(compare(2000, 0.8, 0.1).clear);
        ratio = compare(100, 1.01, 0);
        assert_true(ratio.low > 1 && !ratio.clear);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantiles),  cmocka_unit_test(test_too_few),
        cmocka_unit_test(test_ranks),      cmocka_unit_test(test_noise),
        cmocka_unit_test(test_difference),
    };
    return cmocka_run_group_tests_name("samples", tests, NULL, NULL);
}
