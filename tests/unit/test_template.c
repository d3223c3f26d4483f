/* Patterns and lines with them: what matches, what names stand for, and that time stays in
 * proportion whatever the pattern is. */
#include "frontend/golden/template.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static struct arena arena, work;

/* Whether the whole line is what the template says; what names stand for, as "a=1 b=2 ". */
static bool match(const char *template_text, const char *line, bool whole,
                  struct captures *captures)
{
    struct template template;
    char error[256];
    assert_true(template_parse(&template, &arena, template_text, strlen(template_text), error,
                               sizeof error));
    return template_matches(&template, line, strlen(line), whole, captures, &work);
}

static void check(const char *template, const char *line, bool whole, bool wanted,
                  const char *names)
{
    struct captures captures = {NULL, 0, 0};
    char found[256] = "";
    bool matches = match(template, line, whole, &captures);
    for (uint32_t i = 0; i < captures.count; i++)
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s=%.*s ",
                 captures.at[i].name, (int)captures.at[i].size, captures.at[i].value);
    if (matches != wanted || strcmp(found, names) != 0)
        print_message("%s: %s\n", template, line);
    assert_int_equal(matches, wanted);
    assert_string_equal(found, names);
    vec_free(&captures);
}

static void test_texts(void **state)
{
    (void)state;
    check("call @k", "call @k", true, true, "");
    check("call @k", "call @kk", true, false, "");
    check("call @k", "call @kk", false, true, "");
    check("call @k", "a call @", false, false, "");
    check("{{\\{\\{}}1}}", "{{1}}", true, true, "");
    check("{a = {b = {{[0-9]+}}}}", "{a = {b = 12}}", true, true, "");
}

static void test_patterns(void **state)
{
    (void)state;
    check("a{{.*}}b", "a to b", true, true, "");
    check("a{{.+}}b", "ab", true, false, "");
    check("{{x|yy|z?}}.", "yy.", true, true, "");
    check("{{x|yy|z?}}.", ".", true, true, "");
    check("{{x|yy|z?}}.", "y.", true, false, "");
    check("{{(ab)*c}}", "ababc", true, true, "");
    check("{{(ab)+c}}", "c", true, false, "");
    check("{{((a*)*b?)+}}", "aabaab", true, true, "");
    check("{{[a-c0]+}}", "ab0c", true, true, "");
    check("{{[^a-c]}}", "b", true, false, "");
    check("{{[]a]+}}", "]a", true, true, "");
    check("{{[a-]+}}", "a-a", true, true, "");
    check("{{[\\]\\\\]+}}", "]\\", true, true, "");
    check("{{\\.\\*\\(}}", ".*(", true, true, "");
    check("{{()}}x", "x", true, true, "");
    check("x{{.}}y{{.}}z", "axaybzxcydz", false, true, "");
    check("x{{.}}y{{.}}z", "axaybxcyd", false, false, "");
}

static void test_names(void **state)
{
    (void)state;
    check("args %{{v}} = [%a, %{{v}}]", "args %m0 = [%a, %m0]", true, true, "v=m0 ");
    check("args %{{v}} = [%a, %{{v}}]", "args %m0 = [%a, %m1]", true, false, "");
    check("{{a}}{{b:[0-9]+}}", "x12", true, true, "a=x1 b=2 ");
    check("{{a:.*}}{{a}}", "abab", true, true, "a=ab ");
    check("{{a:.*}}, {{a}}, {{b}}, {{b}}", "1, 1, x.y, x.y", true, true, "a=1 b=x.y ");
    check("{{a:.+}}{{a}}", "xabab", false, true, "a=ab ");
    check("{{a:x}}{{a:y}}{{a}}", "xyy", true, true, "a=x a=y ");
    struct captures captures = {NULL, 0, 0};
    assert_true(match("call @{{k}} {{n:[0-9]+}}", "call @mm 4", true, &captures));
    assert_true(match("{{n}} @{{k}}{{k}}", "4 @mmmm", true, &captures));
    assert_false(match("{{n}} @{{k}}", "5 @mm", true, &captures));
    assert_int_equal(captures.count, 2);
    assert_true(match("{{n:.*}}", "other", true, &captures));
    assert_true(match("{{n}}", "other", true, &captures));
    assert_memory_equal(captures_find(&captures, "n")->value, "other", 5);
    assert_null(captures_find(&captures, "x"));
    vec_free(&captures);
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"{{a", "is not closed"},         {"{{}}", "is empty"},
        {"{{a:}}", "is empty"},           {"{{(a}}", "'(' of it is not closed"},
        {"{{a)}}", "closes nothing"},     {"{{[a}}", "'[' of it is not closed"},
        {"{{*a}}", "nothing stands"},     {"{{a|+}}", "nothing stands"},
        {"{{^a}}", "have no meaning"},    {"{{a$}}", "have no meaning"},
        {"{{a{2}b}}", "have no meaning"}, {"{{\\d+}}", "before a letter"},
        {"{{[b-a]}}", "ends before"},     {"{{[\\w]}}", "before a letter"},
    };
    struct template template;
    char error[256], much[700] = "";
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_false(template_parse(&template, &arena, wrong[i][0], strlen(wrong[i][0]), error,
                                    sizeof error));
        assert_non_null(strstr(error, wrong[i][1]));
    }
    memset(much, 'a', sizeof much - 1);
    memcpy(much, "{{.", 3);
    memcpy(much + 300, "}}", 3);
    assert_false(template_parse(&template, &arena, much, 302, error, sizeof error));
    assert_non_null(strstr(error, "longer than 200"));
    for (unsigned i = 0; i < 65; i++)
        memcpy(much + 6 * i, "{{a*}}", 7);
    assert_false(template_parse(&template, &arena, much, strlen(much), error, sizeof error));
    assert_non_null(strstr(error, "more than 64"));
}

/* Patterns that other matchers take exponential time for. */
static void test_hostile(void **state)
{
    (void)state;
    static const char *const patterns[] = {"{{(a*)*b}}",
                                           "{{(a|a)*b}}",
                                           "{{(a|aa)+b}}",
                                           "{{((a*)*)*b}}",
                                           "{{a?a?a?a?a?a?a?a?aaaaaaaab}}",
                                           "{{x:a*}}{{x}}{{x}}b",
                                           "{{x:.*}}{{y:.*}}{{x}}{{y}}b"};
    char line[3001];
    clock_t start = clock();
    memset(line, 'a', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        struct captures captures = {NULL, 0, 0};
        assert_false(match(patterns[i], line, false, &captures));
        vec_free(&captures);
    }
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 10);
}

static int release(void **state)
{
    (void)state;
    arena_free(&arena);
    arena_free(&work);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),   cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_names),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_hostile),
    };
    return cmocka_run_group_tests_name("template", tests, NULL, release);
}
