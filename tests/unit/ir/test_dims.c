/* Dimensions as sums of products: the normal form, limits, values. */
#include "ir/shapes/dims.h"
#include "tests/unit/random_graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A sum of products of words and numbers, in any order, without blanks: "b*2+1". */
static enum dim_fault sum_of(struct module *module, const char *text, struct dim_sum *sum)
{
    enum dim_fault fault = DIM_FINE;
    struct dim_term term = dim_one;
    sum->count = 0;
    for (const char *p = text; *p && fault == DIM_FINE;) {
        size_t size = strcspn(p, "*+");
        if (*p >= '0' && *p <= '9')
            fault = dim_term_multiply(&term, strtoll(p, NULL, 10));
        else
            fault = dim_term_multiply_name(&term, module, intern_copy(&module->names, p, size));
        p += size;
        if (fault == DIM_FINE && *p != '*') {
            fault = dim_sum_add(sum, module, &term);
            term = dim_one;
        }
        p += *p != '\0';
    }
    return fault;
}

static void dim_text(const struct module *module, int64_t dim, char *text, size_t size)
{
    if (dim_is_gear(dim))
        snprintf(text, size, "%.*s", NAME(module, dim_gear(dim)));
    else
        snprintf(text, size, "%lld", (long long)dim);
}

static void check_normal(const char *text, const char *expected)
{
    struct module *module = module_new(NULL);
    struct dim_sum sum, again;
    char found[400];
    assert_int_equal(sum_of(module, text, &sum), DIM_FINE);
    int64_t dim = dim_of_sum(module, &sum);
    dim_text(module, dim, found, sizeof found);
    assert_string_equal(found, expected);
    dim_to_sum(module, dim, &again);
    assert_int_equal(dim_of_sum(module, &again), dim);
    module_free(module);
}

static void test_normal(void **state)
{
    (void)state;
    check_normal("b", "b");
    check_normal("0", "0");
    check_normal("2*3+4", "10");
    check_normal("s*b", "b*s");
    check_normal("1+c+s*2*b", "2*b*s + c + 1");
    check_normal("b+b", "2*b");
    check_normal("b*s+s*b+c*0", "2*b*s");
    check_normal("0*b", "0");
    check_normal("b*0+1", "1");
    check_normal("a+b*a+a*a+b*b", "a*a + a*b + b*b + a");
    check_normal("bb+b+ba", "b + ba + bb");
    check_normal("b*c+bc", "b*c + bc");
    check_normal("9223372036854775807*b", "9223372036854775807*b");
    check_normal("a*a*a*a*a*a*a*a", "a*a*a*a*a*a*a*a");
    check_normal("p+o+n+m+l+k+j+i+h+g+f+e+d+c+b+a+a",
                 "2*a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p");
}

static void check_fault(const char *text, enum dim_fault expected)
{
    struct module *module = module_new(NULL);
    struct dim_sum sum;
    assert_int_equal(sum_of(module, text, &sum), expected);
    assert_true(strlen(dim_fault_text(expected)) > 0);
    module_free(module);
}

static void test_limits(void **state)
{
    (void)state;
    check_fault("9223372036854775807*2", DIM_OVERFLOW);
    check_fault("9223372036854775807*b+b", DIM_OVERFLOW);
    check_fault("9223372036854775807+1", DIM_OVERFLOW);
    check_fault("a*a*a*a*a*a*a*a*a", DIM_DEGREE_TOO_HIGH);
    check_fault("a+b+c+d+e+f+g+h+i+j+k+l+m+n+o+p+q", DIM_TOO_MANY_TERMS);
}

static void check_bound(const char *text, const char *values, const char *expected,
                        enum dim_fault fault)
{
    struct module *module = module_new(NULL);
    struct dim_binding bindings[8];
    struct dim_sum sum;
    uint32_t count = 0;
    char found[400];
    int64_t bound;
    for (const char *p = values; *p; p += strspn(p, " ")) {
        char *end;
        uint32_t name = intern_copy(&module->names, p, 1);
        bindings[count++] = (struct dim_binding){name, strtoll(p + 2, &end, 10)};
        p = end;
    }
    assert_int_equal(sum_of(module, text, &sum), DIM_FINE);
    int64_t dim = dim_of_sum(module, &sum);
    assert_int_equal(dim_bind(module, dim, bindings, count, &bound), fault);
    dim_text(module, bound, found, sizeof found);
    assert_string_equal(found, expected);
    module_free(module);
}

static void test_bind(void **state)
{
    (void)state;
    check_bound("b*s+c+1", "b=2 s=3 c=4", "11", DIM_FINE);
    check_bound("b*s+c+1", "b=2", "c + 2*s + 1", DIM_FINE);
    check_bound("b*s+s", "b=2", "3*s", DIM_FINE);
    check_bound("b*s+s", "b=0", "s", DIM_FINE);
    check_bound("b*s", "s=0", "0", DIM_FINE);
    check_bound("7", "b=2", "7", DIM_FINE);
    check_bound("b*b*b", "b=4000000", "b*b*b", DIM_OVERFLOW);
    check_bound("b+s", "b=9223372036854775807 s=1", "b + s", DIM_OVERFLOW);
    check_bound("b*b*b*s", "b=4000000 s=0", "0", DIM_FINE);
    struct module *module = module_new(NULL);
    int64_t bound;
    assert_int_equal(dim_bind(module, DIM_UNKNOWN, NULL, 0, &bound), DIM_FINE);
    assert_int_equal(bound, DIM_UNKNOWN);
    module_free(module);
}

/* ----------------------------------------------------------------------- random sums ---- */

enum { N_NAMES = 5, MAX_PRODUCTS = 12 };

/* A sum as it is written, and what it comes to. */
struct written {
    char text[MAX_PRODUCTS][64];
    unsigned count;
    uint64_t value;
};

static const char *const names[N_NAMES] = {"a", "b", "ab", "z_1", "A"};
static const int64_t values[N_NAMES] = {2, 3, 0, 7, 11};

static void write_sum(struct random *random, struct written *written)
{
    written->count = 1 + random_below(random, MAX_PRODUCTS);
    written->value = 0;
    for (unsigned i = 0; i < written->count; i++) {
        unsigned factors = 1 + random_below(random, 4), used = 0;
        uint64_t product = 1;
        for (unsigned n = 0; n < factors; n++) {
            uint32_t name = random_below(random, N_NAMES + 2);
            uint64_t value = name < N_NAMES ? (uint64_t)values[name] : random_below(random, 5);
            used += (unsigned)snprintf(written->text[i] + used, 64 - used, n ? "*" : "%s", "");
            used +=
                name < N_NAMES
                    ? (unsigned)snprintf(written->text[i] + used, 64 - used, "%s", names[name])
                    : (unsigned)snprintf(written->text[i] + used, 64 - used, "%u", (unsigned)value);
            product *= value;
        }
        written->value += product;
    }
}

static void shuffle(struct random *random, struct written *written)
{
    for (unsigned i = written->count; i > 1; i--) {
        char text[64];
        unsigned with = random_below(random, i);
        memcpy(text, written->text[i - 1], sizeof text);
        memcpy(written->text[i - 1], written->text[with], sizeof text);
        memcpy(written->text[with], text, sizeof text);
    }
}

static int64_t dim_of(struct module *module, const struct written *written, bool *fine)
{
    char text[MAX_PRODUCTS * 65] = "";
    struct dim_sum sum;
    for (unsigned i = 0; i < written->count; i++) {
        strcat(text, i ? "+" : "");
        strcat(text, written->text[i]);
    }
    *fine = sum_of(module, text, &sum) == DIM_FINE;
    return *fine ? dim_of_sum(module, &sum) : 0;
}

/* The order of products means nothing, reading the text again gives the same, and values give what
 * the sum as written comes to, all at once or one by one. */
static void test_random(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 3000; n++) {
        struct random random = {n};
        struct module *module = module_new(NULL);
        struct dim_binding bindings[N_NAMES];
        struct written written;
        struct dim_sum sum;
        bool fine;
        for (unsigned i = 0; i < N_NAMES; i++)
            bindings[i] = (struct dim_binding){module_name(module, names[i]), values[i]};
        write_sum(&random, &written);
        int64_t dim = dim_of(module, &written, &fine), bound, step;
        assert_true(fine);
        shuffle(&random, &written);
        assert_int_equal(dim_of(module, &written, &fine), dim);
        dim_to_sum(module, dim, &sum);
        assert_int_equal(dim_of_sum(module, &sum), dim);
        assert_int_equal(dim_bind(module, dim, bindings, N_NAMES, &bound), DIM_FINE);
        assert_int_equal(bound, written.value);
        step = dim;
        for (unsigned i = 0; i < N_NAMES; i++)
            assert_int_equal(dim_bind(module, step, &bindings[i], 1, &step), DIM_FINE);
        assert_int_equal(step, written.value);
        module_free(module);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_normal),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_bind),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
