/* The line on the terminal for who waits: when it comes, what it says, that it goes. */
#include "frontend/cli/progress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int64_t time_now;

static int64_t fake_clock(void)
{
    return time_now;
}

/* A terminal that is a file, at 0 ms. */
static FILE *begin(struct progress *progress)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    time_now = 0;
    *progress = (struct progress){
        .terminal = file, .path = "big.txt", .total = 200, .begin = 0, .clock = fake_clock};
    return file;
}

static void check_shown(FILE *file, const char *expected)
{
    char shown[200];
    rewind(file);
    shown[fread(shown, 1, sizeof shown - 1, file)] = '\0';
    assert_string_equal(shown, expected);
    fclose(file);
}

static void test_quick(void **state)
{
    (void)state;
    struct progress progress;
    FILE *file = begin(&progress);
    time_now = 999;
    progress_at(&progress, 100);
    progress_end(&progress);
    check_shown(file, "");
}

static void test_slow(void **state)
{
    (void)state;
    struct progress progress;
    FILE *file = begin(&progress);
    time_now = 1000;
    progress_at(&progress, 50);
    time_now = 1199; /* too soon for the next one */
    progress_at(&progress, 60);
    time_now = 1200;
    progress_at(&progress, 199);
    progress_end(&progress);
    check_shown(file, "\rreading big.txt: 25% \rreading big.txt: 99% \r\033[K");
}

/* What is no terminal is left alone. */
static void test_no_terminal(void **state)
{
    (void)state;
    struct progress progress;
    FILE *file = tmpfile();
    struct invocation invocation = {.err = file};
    progress_begin(&progress, &invocation, "big.txt", 100);
    assert_null(progress.terminal);
    progress_at(&progress, 100);
    progress_end(&progress);
    check_shown(file, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quick),
        cmocka_unit_test(test_slow),
        cmocka_unit_test(test_no_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
