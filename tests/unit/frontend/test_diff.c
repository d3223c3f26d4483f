/* Unified diffs: their form, and that they lead from the one text to the other. */
#include "frontend/driver/diff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

static void check_diff(const char *old, const char *new, const char *expected)
{
    struct text out = {NULL, 0, 0};
    diff_unified(&out, "a", old, strlen(old), "b", new, strlen(new));
    text_char(&out, '\0');
    assert_string_equal(out.at, expected);
    text_free(&out);
}

static void test_form(void **state)
{
    (void)state;
    check_diff("", "", "");
    check_diff("x\ny\n", "x\ny\n", "");
    check_diff("", "x\n", "--- a\n+++ b\n@@ -0,0 +1 @@\n+x\n");
    check_diff("x\n", "", "--- a\n+++ b\n@@ -1 +0,0 @@\n-x\n");
    check_diff("x\n", "y\n", "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n");
    check_diff("x", "x\n", "--- a\n+++ b\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n");
    check_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n",
               "--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

/* Six equal lines between two changes make one hunk, seven make two. */
static void test_hunks(void **state)
{
    (void)state;
    check_diff("a\n1\n2\n3\n4\n5\n6\nb\n", "A\n1\n2\n3\n4\n5\n6\nB\n",
               "--- a\n+++ b\n@@ -1,8 +1,8 @@\n-a\n+A\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+B\n");
    check_diff("a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n",
               "--- a\n+++ b\n@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n"
               "-b\n+B\n");
}

/* The example of Myers' paper: five edits are the fewest. */
static void test_shortest(void **state)
{
    (void)state;
    static const char old[] = "A\nB\nC\nA\nB\nB\nA\n", new[] = "C\nB\nA\nB\nA\nC\n";
    struct text out = {NULL, 0, 0};
    unsigned edits = 0;
    diff_unified(&out, "a", old, sizeof old - 1, "b", new, sizeof new - 1);
    for (size_t i = 0; i < out.size; i++)
        edits += out.at[i] == '\n' && i + 2 < out.size &&
                 (out.at[i + 1] == '+' || out.at[i + 1] == '-') && out.at[i + 2] != out.at[i + 1];
    assert_int_equal(edits, 5);
    text_free(&out);
}

/* ---- Applying a diff ---- */

struct reader {
    const char *at, *end;
};

static size_t line_size(const struct reader *reader)
{
    const char *stop = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
    return (size_t)((stop ? stop + 1 : reader->end) - reader->at);
}

static void copy_lines(struct text *out, struct reader *from, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        size_t size = line_size(from);
        assert_true(size > 0);
        text_bytes(out, from->at, size);
        from->at += size;
    }
}

/* Checks that the diff, applied to `old`, gives `new`; both end in a newline or are empty. */
static void check_applies(const struct text *diff, const struct text *old, const struct text *new)
{
    struct reader lines = {diff->at, diff->at + diff->size}, from = {old->at, old->at + old->size};
    struct text made = {NULL, 0, 0};
    unsigned line = 1;
    for (size_t size; lines.at < lines.end; lines.at += size) {
        size = line_size(&lines);
        unsigned first, count = 1;
        if (lines.at[0] == '@') {
            assert_true(sscanf(lines.at, "@@ -%u,%u", &first, &count) >= 1);
            first += count == 0;
            copy_lines(&made, &from, first - line);
            line = first;
        } else if (strncmp(lines.at, "--- ", 4) != 0 && strncmp(lines.at, "+++ ", 4) != 0) {
            if (lines.at[0] != '+') {
                assert_true(size - 1 <= (size_t)(from.end - from.at));
                assert_memory_equal(lines.at + 1, from.at, size - 1);
                from.at += size - 1;
                line++;
            }
            if (lines.at[0] != '-')
                text_bytes(&made, lines.at + 1, size - 1);
        }
    }
    text_bytes(&made, from.at, (size_t)(from.end - from.at));
    assert_int_equal(made.size, new->size);
    if (made.size)
        assert_memory_equal(made.at, new->at, made.size);
    text_free(&made);
}

static uint32_t random_next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static void check_pair(const struct text *old, const struct text *new)
{
    struct text diff = {NULL, 0, 0};
    diff_unified(&diff, "a", old->at, old->size, "b", new->at, new->size);
    text_char(&diff, '\0'); /* for sscanf */
    diff.size--;
    check_applies(&diff, old, new);
    text_free(&diff);
}

/* Texts of few different lines have many ways to differ. */
static void test_random(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (int round = 0; round < 4000; round++) {
        struct text texts[2] = {{NULL, 0, 0}, {NULL, 0, 0}};
        unsigned letters = 1 + random_next(&random) % 6;
        for (int i = 0; i < 2; i++) {
            text_string(&texts[i], "");
            for (unsigned n = random_next(&random) % 40; n > 0; n--)
                text_printf(&texts[i], "l%u\n", random_next(&random) % letters);
        }
        check_pair(&texts[0], &texts[1]);
        text_free(&texts[0]);
        text_free(&texts[1]);
    }
}

/* Beyond MAX_COST the diff is no longer the shortest, but it still applies, and time is bounded. */
static void test_hostile(void **state)
{
    (void)state;
    uint64_t random = 7;
    struct text old = {NULL, 0, 0}, new = {NULL, 0, 0};
    for (int i = 0; i < 20000; i++) {
        text_printf(&old, "%u\n", random_next(&random) % 64);
        text_printf(&new, "%u\n", random_next(&random) % 64);
    }
    clock_t start = clock();
    check_pair(&old, &new);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 20);
    text_free(&old);
    text_free(&new);
}

static void test_large_similar(void **state)
{
    (void)state;
    struct text old = {NULL, 0, 0}, new = {NULL, 0, 0};
    for (int i = 0; i < 300000; i++) {
        text_printf(&old, "line %d\n", i / 2);
        text_printf(&new, i % 30000 == 7 ? "changed %d\n" : "line %d\n", i / 2);
    }
    clock_t start = clock();
    check_pair(&old, &new);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 10);
    text_free(&old);
    text_free(&new);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_form),     cmocka_unit_test(test_hunks),
        cmocka_unit_test(test_shortest), cmocka_unit_test(test_random),
        cmocka_unit_test(test_hostile),  cmocka_unit_test(test_large_similar),
    };
    return cmocka_run_group_tests_name("diff", tests, NULL, NULL);
}
