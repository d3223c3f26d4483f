/* Sessions: what passes find in one, with and without sample kernels; options of every scope. */
#include "frontend/session.h"
#include "tests/unit/parsed_module.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static const char graph[] = "skir 1\n"
                            "graph @g(%a: f32[4]) -> f32[4] {\n"
                            "  scope @s {\n"
                            "    %b = Add(%a, %a) : f32[4]\n"
                            "    %c = Mul(%b, %a) : f32[4]\n"
                            "  }\n"
                            "  return %c\n"
                            "}\n";

/* Runs passes on the graph. The text is what became of it, with the diagnostics behind it. */
static struct text run(const struct session_options *options, const char *passes,
                       enum pipeline_status expected)
{
    struct parsed_module parsed;
    struct pipeline pipeline;
    struct session session;
    char error[256];
    parsed_init(&parsed, graph, sizeof graph - 1);
    assert_true(pipeline_parse(&pipeline, passes, error, sizeof error));
    session_open(&session, parsed.module, &parsed.diags, options);
    assert_int_equal(session_run(&session, &pipeline, NULL, NULL), expected);
    session_close(&session);
    pipeline_free(&pipeline);
    struct text text = {NULL, 0, 0};
    print_module(&text, parsed.module, NULL);
    for (uint32_t i = 0; i < parsed.diags.list.count; i++)
        text_string(&text, parsed.diags.list.at[i].text);
    text_char(&text, '\0');
    parsed_free(&parsed);
    return text;
}

static void check_text(struct text text, const char *part)
{
    assert_non_null(strstr(text.at, part));
    text_free(&text);
}

static void test_sample_kernels(void **state)
{
    (void)state;
    struct session_options options = {.source = "x.skir"};
    check_text(run(&options, "bind-kernels", PIPELINE_INPUT), "Add");
    options.kernel_dir = options.header_dir = "backend/kernels"; /* tests run in the build folder */
    check_text(run(&options, "bind-kernels", PIPELINE_OK), "via @add");
}

static void test_options_of_scopes(void **state)
{
    (void)state;
    struct session_options options = {.source = "-", .sk_options = "preload-code=none"};
    check_text(run(&options, "partition-scopes", PIPELINE_OK), "preload-code=none");
}

/* The places are those that a target needs: the folder of the source, and what the caller said. */
static void test_places(void **state)
{
    (void)state;
    static const struct {
        const char *source, *folder;
    } cases[] = {{"a/b/c.skir", "a/b"}, {"c.skir", "."}, {"-", "."}, {"/c.skir", "/"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct session session;
        struct parsed_module parsed;
        parsed_init(&parsed, graph, sizeof graph - 1);
        session_open(&session, parsed.module, &parsed.diags,
                     &(struct session_options){
                         .source = cases[i].source, .kernel_dir = "k", .header_dir = "h"});
        assert_string_equal(session.places.source_dir, cases[i].folder);
        assert_string_equal(session.places.kernel_dir, "k");
        assert_string_equal(session.places.header_dir, "h");
        session_close(&session);
        parsed_free(&parsed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sample_kernels),
        cmocka_unit_test(test_options_of_scopes),
        cmocka_unit_test(test_places),
    };
    return cmocka_run_group_tests_name("session", tests, NULL, NULL);
}
