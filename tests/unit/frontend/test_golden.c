/* Golden tests: how a file is read, run, judged and rewritten. */
#include "frontend/driver/skirc.h"
#include "frontend/filetest/golden.h"
#include "ir/support/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

static char *test_path(void)
{
    char path[] = "/tmp/skir-golden.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    return mem_strdup(path);
}

static void write_test(const char *path, const char *text)
{
    char error[256];
    assert_true(file_write(path, text, strlen(text), error, sizeof error));
}

static void check_file(const char *path, const char *expected)
{
    struct file_bytes bytes;
    char error[256];
    assert_true(file_read(path, &bytes, error, sizeof error));
    assert_string_equal(bytes.data, expected);
    file_bytes_free(&bytes);
}

/* ---- Reading ---- */

static void check_refused(const char *text, const char *message)
{
    struct golden golden;
    char error[512];
    struct part part = {text, strlen(text)};
    assert_false(golden_parse(&golden, "f", part, error, sizeof error));
    assert_non_null(strstr(error, message));
    golden_free(&golden);
}

static void test_parse(void **state)
{
    (void)state;
    static const char text[] = "//! opt \"a b\",c --x=\"y z\"  -o -\r\n"
                               "//! Claims that  much. \n"
                               "skir 1 // plain //! error: one //! help: two\n"
                               "  //! warning@+2: three\n"
                               "a \"//! error: no\" b //! error@file: four\n"
                               "//! expectant is no end, but for it is a claim of nothing\n";
    struct golden golden;
    char error[512];
    struct part part = {text, sizeof text - 1};
    assert_false(golden_parse(&golden, "f", part, error, sizeof error));
    golden_free(&golden);
    part.size = (size_t)(strstr(text, "//! expectant") - text);
    assert_true(golden_parse(&golden, "f", part, error, sizeof error));
    assert_int_equal(golden.commands.count, 1);
    const struct golden_command *command = &golden.commands.at[0];
    assert_int_equal(command->words.count, 5);
    assert_string_equal(command->words.at[1], "a b,c");
    assert_string_equal(command->words.at[2], "--x=y z");
    assert_string_equal(command->words.at[4], "-");
    struct part claim = golden_header(part).claim;
    assert_true(scan_is(claim, (struct part){"Claims that  much.", 18}));
    assert_int_equal(command->sections.count, 0);
    assert_int_equal(golden.expected.count, 4);
    static const struct golden_diag expected[] = {{GOLDEN_ERROR, 3, 3, "one", NONE, 0},
                                                  {GOLDEN_HELP, 3, 3, "two", NONE, 0},
                                                  {GOLDEN_WARNING, 6, 4, "three", NONE, 0},
                                                  {GOLDEN_ERROR, 0, 5, "four", NONE, 0}};
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(golden.expected.at[i].severity, expected[i].severity);
        assert_int_equal(golden.expected.at[i].line, expected[i].line);
        assert_int_equal(golden.expected.at[i].host, expected[i].host);
        assert_string_equal(golden.expected.at[i].text, expected[i].text);
    }
    golden_free(&golden);
}

static void test_refused(void **state)
{
    (void)state;
    check_refused("", "first line");
    check_refused("skir 1\n", "first line");
    check_refused("//!\n//! x\n", "first line");
    check_refused("//! fmt \"x\n//! x\n", "quoted word");
    check_refused("//! test .\n//! x\n", "cannot run");
    check_refused("//! fmt\n", "second line");
    check_refused("//! fmt\n//! \t\nskir 1\n", "second line");
    check_refused("//! fmt\nskir 1\n", "second line");
    check_refused("//! fmt\n//! x\n//! eror: y\n", "line 3: '//! eror: y'");
    check_refused("//! fmt\n//! x\n//! error y\n", "line 3");
    check_refused("//! fmt\n//! x\n//! error:\n", "line 3");
    check_refused("//! fmt\n//! x\n//! error@: y\n", "line 3");
    check_refused("//! fmt\n//! x\n//! error@+: y\n", "line 3");
    check_refused("//! fmt\n//! x\n//! error@-3: y\n", "line 3");
    check_refused("//! fmt\n//! x\n//! error@+99999999999999999999: y\n", "line 3");
    check_refused("\xef\xbb\xbf//! fmt\n//! x\n", "byte order mark");
}

/* Words that stand where they mean nothing. */
static void test_misplaced(void **state)
{
    (void)state;
    check_refused("//! fmt\n//! x\n  //! expect nothing\n",
                  "line 3: '//! expect nothing' is not an expectation;");
    check_refused("//! fmt\n//! x\n//! exepct\n",
                  "'//! expect' and '//! also COMMAND' begin their line after the input");
    check_refused("//! fmt\n//! x\n\n//! fails: y\n", "'//! fails: REASON' is the third line");
    check_refused("//! fmt\n//! x\n//! erorr: y\n", "it is 'SEVERITY: TEXT'");
}

/* ---- Judging ---- */

static enum golden_verdict judge(const char *path, const char *text, const char *message)
{
    struct text report = {NULL, 0, 0};
    write_test(path, text);
    enum golden_verdict verdict = golden_test_file(&skirc, path, false, &report);
    text_char(&report, '\0');
    if (!strstr(report.at, message))
        print_message("%s", report.at);
    assert_non_null(strstr(report.at, message));
    text_free(&report);
    check_file(path, text);
    return verdict;
}

/* Lines of a file that an editor has ended otherwise. */
static void test_line_ends(void **state)
{
    (void)state;
    char *path = test_path();
    assert_int_equal(judge(path, "//! opt\r\n//! x\r\nskir 1\r\n//! expect\r\nskir 1\r\n",
                           "the lines of the test end in CR LF, those of the output in LF"),
                     GOLDEN_FAILED);
    assert_int_equal(
        judge(path, "//! opt\r\n//! x\r\nskir 1\r\n//! expect lines\r\nskir 1\r\n", ""),
        GOLDEN_PASSED);
    unlink(path);
    mem_free(path);
}

#define HEAD "//! check\n//! claim\nskir 1\n"

static void test_judge(void **state)
{
    (void)state;
    char *path = test_path();
    assert_int_equal(judge(path, HEAD, "nothing is expected of 'check'"), GOLDEN_FAILED);
    assert_int_equal(judge(path, HEAD "//! expect nothing\n", ""), GOLDEN_PASSED);
    assert_int_equal(judge(path, HEAD "kernel @a : x\n",
                           "reported, but not expected: line 4: error: unknown kernel type 'x'"),
                     GOLDEN_FAILED);
    assert_int_equal(judge(path, HEAD "kernel @a : x //! error: type 'x'\n", ""), GOLDEN_PASSED);
    assert_int_equal(judge(path, HEAD "kernel @a : x //! error: [unknown-kernel-type]\n", ""),
                     GOLDEN_PASSED);
    assert_int_equal(judge(path, HEAD "kernel @a : x //! error: type 'x' //! error: type 'x'\n",
                           "expected, but not reported: line 4: error: type 'x'"),
                     GOLDEN_FAILED);
    assert_int_equal(
        judge(path, HEAD "kernel @a : x //! warning: type 'x'\n", "exit status 1 instead of 0"),
        GOLDEN_FAILED);
    assert_int_equal(judge(path, HEAD "\nkernel @a : x\n//! error@-2: type 'x'\n",
                           "expected, but not reported: line 4"),
                     GOLDEN_FAILED);
    assert_int_equal(judge(path, HEAD "//! error@+2: type 'x'\n\nkernel @a : x\n", ""),
                     GOLDEN_PASSED);
    assert_int_equal(judge(path, HEAD "//! error: x\n", "exit status 0 instead of 1"),
                     GOLDEN_FAILED);
    assert_int_equal(judge(path, HEAD "//! note: x\n", "expected, but not reported"),
                     GOLDEN_FAILED);
    assert_int_equal(judge(path, "//! chekc\n//! claim\nskir 1\n", "there is no command 'chekc'"),
                     GOLDEN_FAILED);
    unlink(path);
    mem_free(path);
}

/* Of several expectations of one line, each takes the first diagnostic that is left for it. */
static void test_matching(void **state)
{
    (void)state;
    char *path = test_path();
    static const char kernel[] = HEAD "kernel @a : aiv_only {op = 1, block = 0, dynamic = 1}";
    char text[512];
    snprintf(text, sizeof text, "%s //! error: 'op' //! error: must //! error: kind]\n", kernel);
    assert_int_equal(judge(path, text, ""), GOLDEN_PASSED);
    snprintf(text, sizeof text, "%s //! error: 'op' //! error: must //! error: must\n", kernel);
    assert_int_equal(judge(path, text, ""), GOLDEN_PASSED);
    snprintf(text, sizeof text, "%s //! error: must //! error: must //! error: 'op'\n", kernel);
    assert_int_equal(judge(path, text, "expected, but not reported: line 4: error: 'op'"),
                     GOLDEN_FAILED);
    snprintf(text, sizeof text, "%s //! error: must //! error: 'op' //! error: 'op'\n", kernel);
    assert_int_equal(judge(path, text, "expected, but not reported"), GOLDEN_FAILED);
    unlink(path);
    mem_free(path);
}

static void test_output(void **state)
{
    (void)state;
    char *path = test_path();
#define OPT "//! opt\n//! claim\nskir 1\n"
    assert_int_equal(judge(path, OPT, "+skir 1"), GOLDEN_FAILED);
    assert_int_equal(judge(path, OPT "//! expect\nskir 1\n", ""), GOLDEN_PASSED);
    assert_int_equal(judge(path, OPT "//! expect\nskir 1\n\n", "@@ -1,2 +1 @@\n skir 1\n-\n"),
                     GOLDEN_FAILED);
    assert_int_equal(judge(path, OPT "//! expect\nskir 1", "No newline"), GOLDEN_FAILED);
    assert_int_equal(judge(path, OPT "//! expect", "+skir 1"), GOLDEN_FAILED);
    assert_int_equal(judge(path, OPT "//! expect nothig\n", "is not an expectation"),
                     GOLDEN_FAILED);
    unlink(path);
    mem_free(path);
}

/* ---- Accepting ---- */

static void check_bless(const char *path, const char *before, const char *after)
{
    struct text report = {NULL, 0, 0};
    write_test(path, before);
    enum golden_verdict wanted = strcmp(before, after) ? GOLDEN_BLESSED : GOLDEN_PASSED;
    assert_int_equal(golden_test_file(&skirc, path, true, &report), wanted);
    check_file(path, after);
    assert_int_equal(golden_test_file(&skirc, path, true, &report), GOLDEN_PASSED);
    check_file(path, after);
    text_free(&report);
}

static void test_bless(void **state)
{
    (void)state;
    char *path = test_path();
    check_bless(path, OPT, OPT "//! expect\nskir 1\n");
    check_bless(path, OPT "//! expect\nold\n", OPT "//! expect\nskir 1\n");
    check_bless(path, "//! fmt\n//! claim\nskir   1 // x\n",
                "//! fmt\n//! claim\nskir   1 // x\n//! expect\n//! fmt\n//! claim\nskir 1 // x\n");
    check_bless(path, HEAD "kernel @a : x //! error: nothing\n",
                HEAD "kernel @a : x //! error: unknown kernel type 'x' [unknown-kernel-type]\n");
    check_bless(path, HEAD "kernel @a : x //! error: 'x'\n//! error: gone\n",
                HEAD "kernel @a : x //! error: 'x'\n");
    /* A line that goes, or comes, moves the others. */
    check_bless(path, HEAD "//! error@+2: type 'x'\n//! error: gone\nkernel @a : x\n",
                HEAD "//! error@+1: type 'x'\nkernel @a : x\n");
    check_bless(path, HEAD "kernel @\n",
                HEAD "kernel @ //! error: expected a name here [syntax]\n");
    check_bless(path, HEAD "  target \"x\n",
                HEAD "  target \"x\n  //! error@-1: this string does not end on its line, or has "
                     "an unknown escape [syntax]\n");
    check_bless(path, HEAD "kernel @k :\n",
                HEAD "kernel @k :\n//! error@+1: expected word, element type or instruction, "
                     "found the end of the file [syntax]\n");
    check_bless(path, "//! fmt --check\n//! claim\nskir  1\n",
                "//! fmt --check\n//! claim\n//! error@file: not in canonical form; 'skirc fmt -i' "
                "makes it so\nskir  1\n");
    check_bless(path, HEAD "kernel @k : x\r\n\r\n",
                HEAD
                "kernel @k : x //! error: unknown kernel type 'x' [unknown-kernel-type]\n\r\n");
    unlink(path);
    mem_free(path);
}

/* What is wrong usage is no result to be accepted. */
static void test_bless_refused(void **state)
{
    (void)state;
    char *path = test_path();
    struct text report = {NULL, 0, 0};
    static const char text[] = "//! fmt --nonsense\n//! claim\nskir 1\n";
    write_test(path, text);
    assert_int_equal(golden_test_file(&skirc, path, true, &report), GOLDEN_FAILED);
    check_file(path, text);
    text_free(&report);
    unlink(path);
    mem_free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),         cmocka_unit_test(test_refused),
        cmocka_unit_test(test_misplaced),     cmocka_unit_test(test_line_ends),
        cmocka_unit_test(test_judge),         cmocka_unit_test(test_matching),
        cmocka_unit_test(test_output),        cmocka_unit_test(test_bless),
        cmocka_unit_test(test_bless_refused),
    };
    return cmocka_run_group_tests_name("golden", tests, NULL, NULL);
}
