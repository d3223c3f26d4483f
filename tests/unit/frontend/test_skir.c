/* The public library: text in, messages and text out. Compiling is tested with the commands. */
#include "frontend/skir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct skir_module *parse(const char *text)
{
    return skir_parse("a/b.skir", text, strlen(text));
}

static const char scope[] = "skir 1\n"
                            "kernel @k : aiv_only {block = 1, params = [x, y]}\n"
                            "graph @g(%a: f32[4]) -> f32[4] {\n"
                            "  scope @s { %b = Neg(%a) : f32[4] via @k }\n"
                            "  return %b\n"
                            "}\n";

static void test_good(void **state)
{
    (void)state;
    struct skir_module *module = parse(scope);
    assert_true(skir_ok(module));
    assert_string_equal(skir_messages(module), "");
    assert_true(skir_run_passes(module, "partition-scopes", "."));
    char *text = skir_print(module);
    assert_non_null(strstr(text, "superkernel @g_s"));
    struct skir_module *again = parse(text);
    assert_true(skir_ok(again));
    skir_free(again);
    free(text);
    skir_free(module);
}

static void test_wrong_text(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {"", "a/b.skir:1:1: error: "},
        {"skir 1\nkernel @k : gpu\n", "a/b.skir:2:13: error: unknown kernel type 'gpu'"},
        {"skir 1\ngraph @g() -> () { A(%x) }\n", "nothing defines '%x' [unknown-value]"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct skir_module *module = parse(texts[i][0]);
        assert_false(skir_ok(module));
        assert_non_null(strstr(skir_messages(module), texts[i][1]));
        assert_false(skir_run_passes(module, "default", "."));
        assert_null(skir_print(module));
        assert_false(skir_compile(module, ".", "/dev/null"));
        skir_free(module);
    }
}

static void test_unknown_pass(void **state)
{
    (void)state;
    struct skir_module *module = parse(scope);
    assert_false(skir_run_passes(module, "partition-scope", "."));
    assert_false(skir_ok(module));
    assert_non_null(strstr(skir_messages(module), "partition-scopes"));
    assert_non_null(strstr(skir_messages(module), "[unknown-pass]"));
    assert_null(skir_print(module));
    skir_free(module);
}

/* The text is the caller's again at once. */
static void test_text_is_copied(void **state)
{
    (void)state;
    char *text = strdup(scope);
    struct skir_module *module = skir_parse("x", text, strlen(text));
    memset(text, 'x', strlen(text));
    free(text);
    char *printed = skir_print(module);
    assert_non_null(strstr(printed, "Neg(%a)"));
    free(printed);
    skir_free(module);
}

/* Texts by their paths. */
struct texts {
    const char *paths[4], *texts[4];
    unsigned asked;
};

static const char *find_text(void *user, const char *path, size_t *size)
{
    struct texts *texts = user;
    texts->asked++;
    for (int i = 0; i < 4 && texts->paths[i]; i++)
        if (strcmp(texts->paths[i], path) == 0) {
            *size = strlen(texts->texts[i]);
            return texts->texts[i];
        }
    return NULL;
}

static const char including[] = "skir 1\n"
                                "include \"lib/../lib//k.skir\"\n"
                                "include \"./lib/k.skir\"\n"
                                "include \"../up.skir\"\n"
                                "include \"/root/./x/../abs.skir\"\n"
                                "graph @g(%a: f32[4]) -> f32[4] {\n"
                                "  scope @s { %b = Neg(%a) : f32[4] via @k }\n"
                                "  return %b\n"
                                "}\n";

static void test_includes(void **state)
{
    (void)state;
    struct texts texts = {
        {"a/lib/k.skir", "a/lib/more.skir", "up.skir", "/root/abs.skir"},
        {"skir 1 include \"more.skir\" include \"../b.skir\" kernel @k : aiv_only {block = 1}",
         "skir 1 kernel @more : aiv_only {block = 2, object = \"more.o\"}",
         "skir 1 include \"a/lib/more.skir\"", "skir 1"},
        0};
    struct skir_module *module =
        skir_parse_with("a/b.skir", including, strlen(including), find_text, &texts);
    assert_string_equal(skir_messages(module), "");
    assert_int_equal(texts.asked, 4);
    char *kept = skir_print(module), *whole = skir_print_whole(module);
    assert_non_null(strstr(kept, "include \"lib/../lib//k.skir\"\ninclude \"./lib/k.skir\"\n"));
    assert_null(strstr(kept, "kernel"));
    assert_non_null(strstr(whole, "kernel @k : aiv_only"));
    assert_non_null(strstr(whole, "object = \"more.o\""));
    assert_null(strstr(whole, "include"));
    struct skir_module *again = skir_parse_with("a/b.skir", whole, strlen(whole), NULL, NULL);
    assert_true(skir_ok(again));
    assert_true(skir_run_passes(module, "partition-scopes", "."));
    skir_free(again);
    free(kept);
    free(whole);
    skir_free(module);
}

static void test_no_includes(void **state)
{
    (void)state;
    struct texts texts = {{NULL}, {NULL}, 0};
    struct skir_module *module =
        skir_parse_with("b.skir", including, strlen(including), find_text, &texts);
    assert_false(skir_ok(module));
    assert_non_null(strstr(skir_messages(module),
                           "b.skir:4:1: error: there is no text for '../up.skir' [include]"));
    skir_free(module);
    module = skir_parse_with("b.skir", including, strlen(including), NULL, NULL);
    assert_non_null(strstr(skir_messages(module),
                           "b.skir:2:1: error: there is no text for 'lib/k.skir' [include]"));
    skir_free(module);
    module = skir_parse("absent/b.skir", including, strlen(including));
    assert_non_null(strstr(skir_messages(module), "cannot open 'absent/"));
    skir_free(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),         cmocka_unit_test(test_wrong_text),
        cmocka_unit_test(test_unknown_pass), cmocka_unit_test(test_text_is_copied),
        cmocka_unit_test(test_includes),     cmocka_unit_test(test_no_includes),
    };
    return cmocka_run_group_tests_name("skir", tests, NULL, NULL);
}
