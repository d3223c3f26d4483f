/* Memory with what shows where others write beside it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "ir/support/guarded.h"

static void check_size(uint64_t size, bool pages)
{
    struct guarded guarded;
    int64_t first = 0;
    assert_true(guarded_init(&guarded, size, pages));
    assert_int_equal((uintptr_t)guarded.at % 64, 0);
    for (uint64_t i = 0; i < size; i++) {
        assert_int_equal(guarded.at[i], 0);
        guarded.at[i] = 0xff;
    }
    assert_int_equal(guarded_damage(&guarded, &first), 0);
    for (int64_t offset = -64; offset < 64; offset++) {
        int64_t at = offset < 0 ? offset : (int64_t)size + offset;
        guarded.at[at] ^= 1;
        assert_int_equal(guarded_damage(&guarded, &first), 1);
        assert_int_equal(first, at);
        assert_true(guarded_is_near(&guarded, guarded.at + at));
        guarded_repair(&guarded);
        assert_int_equal(guarded_damage(&guarded, &first), 0);
    }
    guarded.at[-3] = guarded.at[-1] = guarded.at[size + 7] = 0;
    assert_int_equal(guarded_damage(&guarded, &first), 3);
    assert_int_equal(first, -3);
    assert_false(guarded_is_near(&guarded, &guarded));
    guarded_free(&guarded);
    guarded_free(&guarded);
}

static void test_sizes(void **state)
{
    (void)state;
    const uint64_t sizes[] = {0, 1, 3, 63, 64, 65, 3903, 3904, 3905, 4096, 100000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        check_size(sizes[i], true);
        check_size(sizes[i], false);
    }
}

/* What is copied from beside one memory to the same place beside another changes each byte; to any
 * other place, most of them. */
static void test_copies(void **state)
{
    (void)state;
    struct guarded memories[8];
    int64_t first;
    for (int i = 0; i < 8; i++)
        assert_true(guarded_init(&memories[i], 20, i % 2 == 0));
    for (int to = 0; to < 8; to++)
        for (int from = 0; from < 8; from++)
            for (int shift = 0; shift <= 20; shift++) {
                unsigned char copy[32];
                memcpy(copy, memories[from].at + 20 + shift, sizeof copy);
                memcpy(memories[to].at + 20, copy, sizeof copy);
                uint64_t least = shift ? 24 : to == from ? 0 : 32;
                assert_true(guarded_damage(&memories[to], &first) >= least);
                guarded_repair(&memories[to]);
                memcpy(memories[to].at - 32, memories[from].at - 32, sizeof copy);
                assert_int_equal(guarded_damage(&memories[to], &first), to == from ? 0 : 32);
                guarded_repair(&memories[to]);
            }
    for (int i = 0; i < 8; i++)
        guarded_free(&memories[i]);
}

static void test_set_pattern(void **state)
{
    (void)state;
    struct guarded guarded;
    int64_t first;
    assert_true(guarded_init(&guarded, 5, false));
    guarded_set_pattern(&guarded, 0x7a);
    assert_int_equal(guarded.at[-1], 0x7a);
    assert_int_equal(guarded.at[5], 0x7a);
    assert_int_equal(guarded_damage(&guarded, &first), 0);
    guarded.at[6] = 0;
    assert_int_equal(guarded_damage(&guarded, &first), 1);
    guarded_free(&guarded);
}

/* AddressSanitizer ends the process else where there is no room. It asks for this name. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static void test_too_large(void **state)
{
    (void)state;
    struct guarded guarded;
    assert_false(guarded_init(&guarded, UINT64_MAX, true));
    assert_false(guarded_init(&guarded, UINT64_MAX, false));
    assert_false(guarded_init(&guarded, (uint64_t)1 << 61, true));
    assert_false(guarded_init(&guarded, (uint64_t)1 << 61, false));
    assert_null(guarded.at);
    guarded_free(&guarded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_set_pattern),
        cmocka_unit_test(test_too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
