/* Golden tests: parts of what is printed, changes, several commands, known failures, and what of
 * these can be accepted. */
#include "frontend/driver/skirc.h"
#include "frontend/filetest/golden.h"
#include "ir/support/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/skir-lines.XXXXXX";

static int make_file(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 || close(fd) != 0;
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static void write_test(const char *text)
{
    char error[256];
    assert_true(file_write(path, text, strlen(text), error, sizeof error));
}

static void check_file(const char *expected)
{
    struct file_bytes bytes;
    char error[256];
    assert_true(file_read(path, &bytes, error, sizeof error));
    assert_string_equal(bytes.data, expected);
    file_bytes_free(&bytes);
}

/* The verdict of a test, and that these texts stand in its report. NULL ends them. */
static void check(const char *text, enum golden_verdict wanted, ...)
{
    struct text report = {NULL, 0, 0};
    va_list args;
    write_test(text);
    enum golden_verdict verdict = golden_test_file(&skirc, path, false, &report);
    text_char(&report, '\0');
    if (verdict != wanted)
        print_message("%s", report.at);
    assert_int_equal(verdict, wanted);
    va_start(args, wanted);
    for (const char *part; (part = va_arg(args, const char *));) {
        if (!strstr(report.at, part))
            print_message("no '%s' in:\n%s", part, report.at);
        assert_non_null(strstr(report.at, part));
    }
    va_end(args);
    text_free(&report);
    check_file(text);
}

/* Whether the report of what fails offers to accept it. */
static void check_offer(bool wanted)
{
    struct text report = {NULL, 0, 0};
    assert_int_equal(golden_test_file(&skirc, path, false, &report), GOLDEN_FAILED);
    text_char(&report, '\0');
    assert_int_equal(strstr(report.at, "  run 'skirc test --bless ") != NULL, wanted);
    text_free(&report);
}

/* Blessing makes `after` of it, which passes; NULL: it is refused, and nothing changes. */
static void check_bless(const char *before, const char *after)
{
    struct text report = {NULL, 0, 0};
    write_test(before);
    if (after)
        check_offer(true);
    enum golden_verdict verdict = golden_test_file(&skirc, path, true, &report);
    check_file(after ? after : before);
    assert_int_equal(verdict, after ? GOLDEN_BLESSED : GOLDEN_FAILED);
    if (after)
        assert_int_equal(golden_test_file(&skirc, path, true, &report), GOLDEN_PASSED);
    check_file(after ? after : before);
    text_free(&report);
}

/* Of which nothing can be accepted. */
static void check_refused(const char *text)
{
    write_test(text);
    check_offer(false);
    check_bless(text, NULL);
}

#define INPUT                                                                                      \
    "skir 1\n\nkernel @k : aiv_only {\n  block = 4\n}\n\ngraph @g(%a: f32[8]) -> f32[8] {\n"       \
    "  superkernel @s {\n    %b = Abs(%a) : f32[8] via @k\n    %c = Neg(%b) : f32[8] via @k\n"     \
    "  }\n  return %c\n}\n"
#define TEST "//! opt lower-superkernels,insert-syncs\n//! claim\n" INPUT
#define ENTRY                                                                                      \
    "entry @s : mix_aiv_1_0 {block = 4} {\n  args %b = [%a, %b]\n  args %c = [%b, %c]\n  aiv {\n"  \
    "    call @k args %b blocks 4\n    arrive aiv\n    await aiv\n    call @k args %c blocks 4\n"  \
    "  }\n}\n"
#define LINES TEST "//! expect lines\n"
#define NOTHING ((const char *)NULL)

static void test_order(void **state)
{
    (void)state;
    check(LINES "args %b = [%a, %b]\n", GOLDEN_PASSED, NOTHING);
    check(LINES "\n\t args %b = [%a, %b] \n args %c = [%b, %c]\n...\n\n...\nawait aiv\n",
          GOLDEN_PASSED, NOTHING);
    check(LINES "args %b\n", GOLDEN_FAILED, "line 17: not found: args %b\n",
          "searched from output line 1: skir 1",
          "most similar is output line 16: args %b = [%a, %b]\n", NOTHING);
    check(LINES "args %b = [%a, %b]\nawait aiv\n", GOLDEN_FAILED,
          "line 18: does not follow: await aiv", "end in output line 16: args %b",
          "next is output line 17: args %c", NOTHING);
    check(LINES "await aiv\n...\narrive aiv\n", GOLDEN_FAILED, "line 19: not found: arrive aiv",
          "searched from output line 22: call @k args %c",
          "it appears earlier, in output line 20: arrive aiv", NOTHING);
    check(LINES "return %c\n...\nargs %{{x}} = [%a, %{{x}}]\n...\ncall @k args %{{x}} blocks 5\n",
          GOLDEN_FAILED, "line 21: not found", "captured: x = b", NOTHING);
    /* A place where only the first line fits is not the last one that is tried. */
    check(LINES "call @k args {{.*}}\n}\n", GOLDEN_PASSED, NOTHING);
}

static void test_anywhere(void **state)
{
    (void)state;
    check(LINES "//! 2 times: call @k\n//! 1 time: await\n//! not: pipe_barrier\n"
                "//! anywhere: call @k args %c\n//! anywhere: kernel @\n",
          GOLDEN_PASSED, NOTHING);
    check(LINES "//! 3 times: call @k\n", GOLDEN_FAILED,
          "line 17: expected in 3 lines, found in 2: call @k", "it is in output line 19", NOTHING);
    check(LINES "//! not: {{a|b}}wait\n", GOLDEN_FAILED,
          "line 17: must not appear: {{a|b}}wait\n    but is in output line 21: await aiv",
          NOTHING);
    check(LINES "//! anywhere: await aic\n", GOLDEN_FAILED, "not found anywhere: await aic",
          "most similar is output line 21: await aiv", NOTHING);
    check(LINES "//! twice: x\n", GOLDEN_FAILED, "line 17: '//! twice: x' is not an expectation",
          NOTHING);
    check(LINES "//! not:\n", GOLDEN_FAILED, "is not an expectation of lines", NOTHING);
    check(LINES "{{[}}\n", GOLDEN_FAILED,
          "line 17: '{{[}}' is not a regular expression: ", NOTHING);
    check(LINES, GOLDEN_FAILED, "line 16: this expects no line", NOTHING);
    check(LINES "...\n\n...\n", GOLDEN_FAILED,
          "line 16: this expects no line: '...' matches any lines, even none", NOTHING);
    check(LINES "//! 4294967295 times: x\n", GOLDEN_FAILED, "no output has more than 4294967294",
          NOTHING);
    check(LINES "//! 99999999999999999999 times: x\n", GOLDEN_FAILED,
          "line 17: '//! 99999999999999999999 times: x': no output has more", NOTHING);
    check(LINES "//! 4294967294 times: x\n", GOLDEN_FAILED, "expected in 4294967294 lines",
          NOTHING);
}

static void test_parts(void **state)
{
    (void)state;
    check(TEST "//! expect in entry @s\n" ENTRY, GOLDEN_PASSED, NOTHING);
    check(TEST "//! expect in kernel @k\nkernel @k : aiv_only {\n  block = 4\n}\n\n"
               "//! expect lines in entry @s, aiv\n}\n//! not: }}\n//! 5 times: a\n"
               "//! expect in graph @g, superkernel @s, %c\n    %c = Neg(%b) : f32[8] via @k\n",
          GOLDEN_PASSED, NOTHING);
    check(TEST "//! expect lines in entry @s\n//! not: return\n", GOLDEN_PASSED, NOTHING);
    check(TEST "//! expect in entry @t\nx\n", GOLDEN_FAILED,
          "line 16: the standard output has no 'entry @t'", NOTHING);
    check(TEST "//! expect in entry @s, aic\nx\n", GOLDEN_FAILED, "has no 'aic'", NOTHING);
    check(TEST "//! expect in entry @s, aiv\n  aiv {\n  }\n", GOLDEN_FAILED,
          "+++ standard output in entry @s, aiv\n", "+    await aiv\n", NOTHING);
    check(TEST "//! expect in \nx\n", GOLDEN_FAILED, "'expect in' is not an expectation", NOTHING);
    check(TEST "//! expect lins\n", GOLDEN_FAILED, "'expect lins' is not an expectation", NOTHING);
}

static void test_changes(void **state)
{
    (void)state;
    check(TEST "//! expect changes\n" ENTRY, GOLDEN_PASSED, NOTHING);
    check("//! opt\n//! claim\n" INPUT "//! expect no changes\n", GOLDEN_PASSED, NOTHING);
    check(TEST "//! expect no changes\n", GOLDEN_FAILED, "+entry @s", NOTHING);
    check_bless(TEST "//! expect changes\n", TEST "//! expect changes\n" ENTRY);
    check_bless("//! opt\n//! claim\n" INPUT "//! expect changes\nx\n",
                "//! opt\n//! claim\n" INPUT "//! expect no changes\n");
    check("//! opt partition-scopes\n//! claim\nskir 1\n\ngraph @g(%a: f32[8]) -> f32[8] {\n"
          "  scope @s {\n    %b = Abs(%a) : f32[8]\n  }\n  return %b\n}\n"
          "//! expect changes\n graph @g(%a: f32[8]) -> f32[8] {\n-  scope @s {\n"
          "+  superkernel @g_s {scope = @s} {\n...\n",
          GOLDEN_PASSED, NOTHING);
}

static void test_commands(void **state)
{
    (void)state;
    check(TEST "//! expect changes\n" ENTRY "\n//! also opt\n//! expect no changes\n\n"
               "//! also check --no-lower\n//! expect nothing\n",
          GOLDEN_PASSED, NOTHING);
    check("//! check\n//! also fmt: a claim\nskir 1\n//! expect nothing\n//! also opt\n",
          GOLDEN_FAILED, "  //! also opt\n--- expected", "nothing is expected of 'opt'", NOTHING);
    check("//! check\n//! claim\nskir 1\n//! also test\n", GOLDEN_FAILED, "cannot run 'test'",
          NOTHING);
    check("//! check\n//! claim\nskir 1\n//! also \"x\n", GOLDEN_FAILED, "with all quotes closed",
          NOTHING);
    check("//! check\n//! claim\nskir 1\n//! also opt\nx\n", GOLDEN_FAILED,
          "line 5: this text precedes any", NOTHING);
    check("//! check\n//! claim\nskir 1 //! error#2: x\n//! expect nothing\n", GOLDEN_FAILED,
          "is not an expectation", NOTHING);
    check("//! check\n//! claim\nskir 1\nkernel @a : x //! error: 'x'\n//! also opt\n",
          GOLDEN_PASSED, NOTHING);
    check("//! check\n//! claim\nskir 1\nkernel @a : x //! error#2: 'x'\n"
          "//! expect nothing\n//! also opt\n",
          GOLDEN_FAILED, "  //! check\n  reported, but not expected: line 4", NOTHING);
}

static void test_bless_commands(void **state)
{
    (void)state;
    check_bless("//! check\n//! claim\nskir 1\n//! also opt\n",
                "//! check\n//! claim\nskir 1\n//! expect nothing\n//! also opt\n"
                "//! expect\nskir 1\n");
    check_bless("//! check\n//! claim\nskir 1\nkernel @a : x\n//! also opt\n",
                "//! check\n//! claim\nskir 1\nkernel @a : x //! error: unknown kernel type 'x' "
                "[unknown-kernel-type]\n//! also opt\n");
    check_bless(
        "//! fmt --check\n//! claim\nskir  1 //! error@file: not in\n//! also check --no-lower\n",
        "//! fmt --check\n//! claim\nskir  1 //! error#1@file: not in\n//! also check --no-lower\n"
        "//! expect nothing\n");
}

static void test_bless_lines(void **state)
{
    (void)state;
    check_bless(LINES "//! 3 times: call @k\n", LINES "//! 2 times: call @k\n");
    check_bless(LINES "//! 2 times: await\n", LINES "//! 1 time: await\n");
    check_bless(LINES "  args %b = [%a, %x]\n...\nawait aiv\n//! anywhere: await aix\n",
                LINES "  args %b = [%a, %b]\n...\nawait aiv\n//! anywhere: await aiv\n");
    check_bless(LINES "arrive aiv\nawait aix\ncall @k args %c blocks 4\n",
                LINES "arrive aiv\nawait aiv\ncall @k args %c blocks 4\n");
    check_bless(LINES "call @k args %{{v}} blocks 5\n", NULL);
    check_refused(LINES "//! not: await\n");
    check_bless(LINES "//! 2 times: absent\n", NULL);
    check_refused(LINES "nothing is like this\n");
    check_refused(
        "//! run --expect=a=5 -ia=ones\n//! claim\nskir 1\ngraph @g(%a: f32[8]) -> f32[8] "
        "{\n  return %a\n}\n");
    check_bless(TEST "//! expect in entry @t\n" ENTRY, NULL);
    check_bless(TEST "//! expect in entry @s\n\n//! expect lines\n//! 1 time: absent\n", NULL);
    check_bless(TEST "//! expect in kernel @k\nx\n\n//! expect lines\n//! 9 times: call\n",
                TEST "//! expect in kernel @k\nkernel @k : aiv_only {\n  block = 4\n}\n\n"
                     "//! expect lines\n//! 2 times: call\n");
}

static void test_known(void **state)
{
    (void)state;
    check("//! check\n//! claim\n//! fails: not done yet\nskir 1\nkernel @a : x\n", GOLDEN_KNOWN,
          NOTHING);
    check("//! chekc\n//! claim\n//! fails: no such command\nskir 1\n", GOLDEN_KNOWN, NOTHING);
    check("//! check\n//! claim\n//! fails: x\nskir 1 //! eror: x\n", GOLDEN_FAILED, "line 4",
          NOTHING);
    check("//! check\n//! claim\n//! fails:\nskir 1\n", GOLDEN_FAILED, "'//! fails: REASON'",
          NOTHING);
    check("//! check\n//! claim\n//! fails: x\nskir 1\n//! expect nothing\n", GOLDEN_FAILED,
          "it passes, though it is said to fail: x", NOTHING);
    check_bless("//! check\n//! claim\n//! fails: x\nskir 1\n//! expect nothing\n",
                "//! check\n//! claim\nskir 1\n//! expect nothing\n");
    struct text report = {NULL, 0, 0};
    static const char known[] = "//! check\n//! claim\n//! fails: x\nskir 1\nkernel @a : x\n";
    write_test(known);
    assert_int_equal(golden_test_file(&skirc, path, true, &report), GOLDEN_KNOWN);
    check_file(known);
    text_free(&report);
}

static void judge_size(const struct text *text, enum golden_verdict wanted)
{
    char error[256];
    struct text report = {NULL, 0, 0};
    assert_true(file_write(path, text->at, text->size, error, sizeof error));
    assert_int_equal(golden_test_file(&skirc, path, false, &report), wanted);
    text_free(&report);
}

/* Words of the header take the memory that they have. */
static void test_long_header(void **state)
{
    (void)state;
    struct text text = {NULL, 0, 0};
    text_string(&text, "//! check");
    for (unsigned i = 0; i < 100000; i++)
        text_string(&text, " word");
    text_string(&text, "\n//! claim\nskir 1\n");
    judge_size(&text, GOLDEN_FAILED);
    text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),       cmocka_unit_test(test_anywhere),
        cmocka_unit_test(test_parts),       cmocka_unit_test(test_changes),
        cmocka_unit_test(test_commands),    cmocka_unit_test(test_bless_commands),
        cmocka_unit_test(test_bless_lines), cmocka_unit_test(test_known),
        cmocka_unit_test(test_long_header),
    };
    return cmocka_run_group_tests_name("golden_lines", tests, make_file, remove_file);
}
