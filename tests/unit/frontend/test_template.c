/* Lines with regular expressions and names: what matches, and what the names stand for. */
#include "frontend/filetest/template.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static struct arena arena;

/* Whether the whole line is what the template says; what names stand for, as "a=1 b=2 ". */
static bool match(const char *template_text, const char *line, bool whole,
                  struct captures *captures)
{
    struct template template;
    char error[256];
    assert_true(template_parse(&template, &arena, template_text, strlen(template_text), error,
                               sizeof error));
    bool matches = template_matches(&template, line, strlen(line), whole, captures);
    template_free(&template);
    return matches;
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
    check("{{\\.\\*\\(}}", ".*(", true, true, "");
    check("{{()}}x", "x", true, true, "");
    check("x{{.}}y{{.}}z", "axaybzxcydz", false, true, "");
    check("x{{.}}y{{.}}z", "axaybxcyd", false, false, "");
    check("{{(a{2})}}b", "aab", true, true, "");
    check("{{[)]|(b)}}c", ")c", true, true, "");
    check("a.*[x]\\(", "a.*[x]\\(", true, true, "");
    check("a.*{{x}}", "abc", false, false, "");
}

static void test_names(void **state)
{
    (void)state;
    check("args %{{v}} = [%a, %{{v}}]", "args %m0 = [%a, %m0]", true, true, "v=m0 ");
    check("args %{{v}} = [%a, %{{v}}]", "args %m0 = [%a, %m1]", true, false, "");
    check("{{a}}{{b:[0-9]+}}", "x12", true, true, "a=x1 b=2 ");
    check("{{a:(x|y)+}}, {{a}}, {{b}}, {{b}}", "xy, xy, x.y, x.y", true, true, "a=xy b=x.y ");
    check("%{{a}} = %{{a}}", "%a = %b, %c = %c", false, true, "a=c ");
    check("%{{a}} = %{{a}}", "%a = %b, %c = %d", false, false, "");
    check("{{a:x}}{{a:y}}{{a}}", "xyy", true, true, "a=x a=y ");
    check("{{x:.*}}{{x}}", "abab", true, true, "x=ab ");
    check("{{(a)(b)}}{{x:(c)+}} {{x}}0{{x}}", "abcc cc0cc", true, true, "x=cc ");
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
        {"{{a", "is not closed"},
        {"{{}}", "is empty"},
        {"{{a:}}", "is empty"},
        {"{{(a}}", "'{{(a}}' is not a regular expression: Unmatched ( or \\("},
        {"{{a)}}", "is not a regular expression: Unmatched ) or \\)"},
        {"x{{a)|b}}", "Unmatched ) or \\)"},
        {"{{[)](a))}}", "Unmatched ) or \\)"},
        {"{{n:[a}}", "'{{[a}}' is not a regular expression"},
        {"{{a{2,1}b}}", "is not a regular expression"},
        {"{{[b-a]}}", "is not a regular expression"},
        {"{{(((((((((a)))))))))}}{{x}} {{x}}", "'{{x}}' occurs again in its line"},
    };
    struct template template;
    char error[256];
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_false(template_parse(&template, &arena, wrong[i][0], strlen(wrong[i][0]), error,
                                    sizeof error));
        if (!strstr(error, wrong[i][1]))
            print_message("%s: %s\n", wrong[i][0], error);
        assert_non_null(strstr(error, wrong[i][1]));
    }
}

static int release(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests_name("template", tests, NULL, release);
}
