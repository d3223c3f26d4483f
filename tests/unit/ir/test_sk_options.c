/* The options of scopes: the table's defaults and ranges, what the parser makes of texts, and
 * where it reports mistakes. */
#include "ir/core/sk_options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct sk_options parsed(const char *text)
{
    struct sk_options options;
    assert_true(sk_options_parse(&options, text, strlen(text), no_span, NULL));
    return options;
}

static bool accepts(enum sk_option option, const char *value)
{
    char text[256];
    struct sk_options options;
    int size = snprintf(text, sizeof text, "%s=%s", sk_option_key(option), value);
    return sk_options_parse(&options, text, (size_t)size, no_span, NULL);
}

static int64_t number_of(enum sk_option option, const char *value)
{
    char text[256];
    snprintf(text, sizeof text, "%s=%s", sk_option_key(option), value);
    struct sk_setting setting = parsed(text).of[option];
    assert_true(setting.given);
    assert_int_equal(setting.size, strlen(value));
    assert_memory_equal(setting.text, value, setting.size);
    return setting.number;
}

/* ---- The table ---- */

static void test_defaults(void **state)
{
    (void)state;
    static const int64_t defaults[SK_OPTION_COUNT] = {
        [SK_early_start] = 1,  [SK_preload_code] = SK_PRELOAD_per_func,   [SK_split_mode] = 4,
        [SK_func_align] = 512, [SK_strict_scope_check] = SK_STRICT_unset,
    };
    struct sk_options options, empty = parsed("");
    sk_options_defaults(&options);
    for (int i = 0; i < SK_OPTION_COUNT; i++) {
        assert_int_equal(options.of[i].number, defaults[i]);
        assert_int_equal(empty.of[i].number, defaults[i]);
        assert_false(options.of[i].given);
        assert_false(empty.of[i].given);
        assert_int_equal(options.of[i].size, 0);
        assert_non_null(options.of[i].text);
    }
}

static void test_ranges(void **state)
{
    (void)state;
    static const struct {
        enum sk_option option;
        const char *low, *high, *below, *above;
    } cases[] = {
        {SK_stream_fusion, "0", "1", "-1", "2"},
        {SK_early_start, "0", "2", "-1", "3"},
        {SK_split_mode, "1", "64", "0", "65"},
        {SK_func_align, "0", "268435456", "1", "536870912"},
        {SK_debug_dcci_all, "0", "1", "-1", "2"},
        {SK_debug_sync_all, "0", "1", "-1", "2"},
        {SK_feed_sync_all, "0", "1", "-1", "2"},
        {SK_profiling, "0", "1", "-1", "2"},
        {SK_debug_aic_num, "0", "1024", "-1", "1025"},
        {SK_debug_aiv_num, "0", "1024", "-1", "1025"},
    };
    static const char *const bad[] = {"x",
                                      "1x",
                                      "0x1",
                                      "+1",
                                      "1.0",
                                      "1=1",
                                      "- 1",
                                      "1,1",
                                      "18446744073709551617",
                                      "99999999999999999999999999999999"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(number_of(cases[i].option, cases[i].low), strtol(cases[i].low, NULL, 10));
        assert_int_equal(number_of(cases[i].option, cases[i].high),
                         strtol(cases[i].high, NULL, 10));
        assert_false(accepts(cases[i].option, cases[i].below));
        assert_false(accepts(cases[i].option, cases[i].above));
        for (size_t j = 0; j < sizeof bad / sizeof bad[0]; j++)
            assert_false(accepts(cases[i].option, bad[j]));
    }
}

static void test_powers(void **state)
{
    (void)state;
    for (int64_t power = 2; power <= 268435456; power *= 2) {
        char text[32];
        snprintf(text, sizeof text, "%lld", (long long)power);
        assert_int_equal(number_of(SK_func_align, text), power);
        snprintf(text, sizeof text, "%lld", (long long)power + 1);
        assert_false(accepts(SK_func_align, text));
    }
}

static void test_choices(void **state)
{
    (void)state;
    assert_int_equal(number_of(SK_preload_code, "max"), SK_PRELOAD_max);
    assert_int_equal(number_of(SK_preload_code, "per-func"), SK_PRELOAD_per_func);
    assert_int_equal(number_of(SK_preload_code, "none"), SK_PRELOAD_none);
    assert_int_equal(number_of(SK_strict_scope_check, "bypass"), SK_STRICT_bypass);
    assert_int_equal(number_of(SK_strict_scope_check, "abort"), SK_STRICT_abort);
    static const char *const bad[] = {"0", "1", "unset", "Max", "per", "per-func-", "abort,bypass"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(accepts(SK_preload_code, bad[i]));
        assert_false(accepts(SK_strict_scope_check, bad[i]));
    }
}

static bool lists(const struct sk_options *options, const char *word)
{
    return sk_option_lists(options, SK_dcci_after_kernel_end, word, strlen(word));
}

static void test_lists(void **state)
{
    (void)state;
    static const enum sk_option all[] = {SK_dcci_before_kernel_start, SK_dcci_after_kernel_end,
                                         SK_dcci_disable_on_kernel};
    static const char *const bad[] = {",",     "A,", ",A", "A,,B", "A, ,B", "A B",
                                      "A,B C", "*",  "*A", "A**",  "A,*B"};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        assert_true(accepts(all[i], "A"));
        for (size_t j = 0; j < sizeof bad / sizeof bad[0]; j++)
            assert_false(accepts(all[i], bad[j]));
    }
    struct sk_options options = parsed("dcci-after-kernel-end=MatMul,Add , Conv2D");
    assert_true(lists(&options, "MatMul"));
    assert_true(lists(&options, "Add"));
    assert_true(lists(&options, "Conv2D"));
    assert_false(lists(&options, "Mat"));
    assert_false(lists(&options, "add"));
    assert_false(lists(&options, "Conv2D "));
    assert_false(lists(&options, ""));
    options = parsed("dcci-after-kernel-end=.*Mul,A.d,Conv2*D,x*");
    assert_true(lists(&options, "MatMul"));
    assert_true(lists(&options, "Mul"));
    assert_true(lists(&options, "Add"));
    assert_true(lists(&options, "ConvD"));
    assert_true(lists(&options, "Conv222D"));
    assert_true(lists(&options, ""));
    assert_false(lists(&options, "MatMulV2"));
    assert_false(lists(&options, "Addd"));
    assert_false(lists(&options, "Ad"));
    assert_false(lists(&options, "Conv3D"));
    options = parsed("dcci-after-kernel-end=.*");
    assert_true(lists(&options, "Anything"));
    options = parsed("");
    assert_false(lists(&options, "Add"));
    assert_false(lists(&options, ""));
}

static void test_text(void **state)
{
    (void)state;
    struct sk_options options =
        parsed("profiling=1:compile-options= -DA=1,-DB=x=y \t:split-mode=7");
    assert_int_equal(options.of[SK_compile_options].size, strlen("-DA=1,-DB=x=y"));
    assert_memory_equal(options.of[SK_compile_options].text, "-DA=1,-DB=x=y",
                        options.of[SK_compile_options].size);
    assert_int_equal(options.of[SK_profiling].number, 1);
    assert_int_equal(options.of[SK_split_mode].number, 7);
}

/* ---- Mistakes ---- */

struct mistake {
    enum diag_id id;
    uint32_t begin, end;
};

/* Parses a text that stands at offset 100 of a source, and compares all that is reported. */
static void check_mistakes(const char *text, size_t count, const struct mistake *mistakes)
{
    struct diags diags;
    struct sk_options options;
    uint32_t size = (uint32_t)strlen(text);
    diags_init(&diags, NULL, "options");
    bool ok = sk_options_parse(&options, text, size, (struct span){100, 100 + size}, &diags);
    assert_int_equal(diags.list.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(diag_id_text(diags.list.at[i].id), diag_id_text(mistakes[i].id));
        assert_int_equal(diags.list.at[i].span.begin, 100 + mistakes[i].begin);
        assert_int_equal(diags.list.at[i].span.end, 100 + mistakes[i].end);
    }
    assert_int_equal(ok, diags.counts[SEVERITY_ERROR] == 0);
    assert_int_equal(sk_options_parse(&options, text, size, no_span, NULL), ok);
    diags_free(&diags);
}

#define MISTAKES(text, ...)                                                                        \
    check_mistakes(text, sizeof(struct mistake[]){__VA_ARGS__} / sizeof(struct mistake),           \
                   (struct mistake[]){__VA_ARGS__})

static void test_mistakes(void **state)
{
    (void)state;
    check_mistakes("", 0, NULL);
    check_mistakes("profiling=1", 0, NULL);
    MISTAKES("stream-funsion=1", {DIAG_unknown_option, 0, 14});
    MISTAKES("profiling=1: x = 1", {DIAG_unknown_option, 13, 14});
    MISTAKES("profiling=1:split-mode= 65 ", {DIAG_option_value, 24, 26});
    MISTAKES("profiling=0:profiling=1", {DIAG_option_repeated, 12, 21});
    MISTAKES("profiling=2:profiling=1", {DIAG_option_value, 10, 11},
             {DIAG_option_repeated, 12, 21});
    MISTAKES("=1", {DIAG_option_syntax, 0, 2});
    MISTAKES("=", {DIAG_option_syntax, 0, 1});
    MISTAKES("profiling=:split-mode=", {DIAG_option_syntax, 10, 11}, {DIAG_option_syntax, 22, 23});
    MISTAKES("profiling", {DIAG_option_ignored, 0, 9});
    MISTAKES("profiling=1:", {DIAG_option_ignored, 12, 13});
    MISTAKES(":", {DIAG_option_ignored, 0, 1}, {DIAG_option_ignored, 1, 2});
}

/* What is wrong has its default, and what is right counts all the same. */
static void test_recovery(void **state)
{
    (void)state;
    static const char text[] = "split-mode=65:x=1:early-start=2:profiling:early-start=0";
    struct sk_options options;
    assert_false(sk_options_parse(&options, text, strlen(text), no_span, NULL));
    assert_int_equal(options.of[SK_split_mode].number, 4);
    assert_false(options.of[SK_split_mode].given);
    assert_int_equal(options.of[SK_early_start].number, 2);
    assert_false(options.of[SK_profiling].given);
}

static const char *only_help(struct diags *diags, const char *text)
{
    struct sk_options options;
    diags_init(diags, NULL, "options");
    sk_options_parse(&options, text, strlen(text), no_span, diags);
    assert_int_equal(diags->list.count, 1);
    assert_int_equal(diags->list.at[0].span.end, 0);
    return diags->list.at[0].notes ? diags->list.at[0].notes->text : NULL;
}

static void check_help(const char *text, const char *help)
{
    struct diags diags;
    const char *found = only_help(&diags, text);
    if (help)
        assert_string_equal(found, help);
    else
        assert_null(found);
    diags_free(&diags);
}

static void test_suggestions(void **state)
{
    (void)state;
    check_help("stream-funsion=1", "did you mean 'stream-fusion'?");
    check_help("split_mode=1", "did you mean 'split-mode'?");
    check_help("profilling", "did you mean 'profiling=VALUE'?");
    check_help("preload-code=per_func", "did you mean 'per-func'?");
    check_help("strict-scope-check=abrot", "did you mean 'abort'?");
    check_help("strict-scope-check=unset", NULL);
    check_help("q=1", "'skirc opt --list-sk-options' lists the options");
}

/* A literal with escapes is longer than its text, and is reported as a whole. */
static void test_escaped_span(void **state)
{
    (void)state;
    struct diags diags;
    struct sk_options options;
    diags_init(&diags, NULL, "options");
    assert_false(sk_options_parse(&options, "profiling=2", 11, (struct span){50, 66}, &diags));
    assert_int_equal(diags.list.at[0].span.begin, 50);
    assert_int_equal(diags.list.at[0].span.end, 66);
    diags_free(&diags);
}

/* ---- Hostile texts ---- */

static void check_hostile(const char *unit, bool ok)
{
    enum { SIZE = 1 << 20 };
    size_t step = strlen(unit);
    char *text = mem_calloc(SIZE, 1); /* no NUL behind what is parsed */
    struct diags diags;
    struct sk_options options;
    for (size_t i = 0; i < SIZE; i++)
        text[i] = unit[i % step];
    diags_init(&diags, NULL, "options");
    assert_int_equal(sk_options_parse(&options, text, SIZE, (struct span){1, 1 + SIZE}, &diags),
                     ok);
    assert_true(diags.list.count <= 41); /* 20 errors, 20 warnings */
    for (uint32_t i = 0; i < diags.list.count; i++) {
        assert_true(strlen(diags.list.at[i].text) < 600);
        assert_true(diags.list.at[i].span.end <= 2 + SIZE);
    }
    diags_free(&diags);
    mem_free(text);
}

static void test_hostile(void **state)
{
    (void)state;
    check_hostile(":", true);
    check_hostile("a", true);
    check_hostile("\xe2\x82\xac", true);
    check_hostile(" ", true);
    check_hostile("=", false);
    check_hostile("=:", false);
    check_hostile("a=", false);
    check_hostile("a=1:", false);
    check_hostile("split-mode=1:", false);
    check_hostile("split-mode=11111111", false);
    check_hostile("dcci-after-kernel-end=A,", true);
    check_hostile("dcci-after-kernel-end=A,,", false);
    check_hostile("compile-options=a=", true);
}

static void test_bytes(void **state)
{
    (void)state;
    static const char text[] = "prof\0iling=1:split-mode=1\0:\0";
    struct sk_options options;
    assert_false(sk_options_parse(&options, text, sizeof text - 1, no_span, NULL));
    assert_false(options.of[SK_profiling].given);
    assert_false(options.of[SK_split_mode].given);
}

/* ---- Override ---- */

static void check_override(const char *base, const char *more, const char *expected)
{
    struct module *module = module_new(NULL);
    uint32_t id = sk_options_override(module, base ? module_name(module, base) : NONE, more);
    if (expected)
        assert_true(name_is(module, id, expected));
    else
        assert_int_equal(id, NONE);
    module_free(module);
}

static void test_override(void **state)
{
    (void)state;
    check_override(NULL, NULL, NULL);
    check_override(NULL, "", NULL);
    check_override(NULL, "profiling", NULL);
    check_override("profiling=1", NULL, "profiling=1");
    check_override("profiling=1", "", "profiling=1");
    check_override("profiling=1:", ":x", "profiling=1:");
    check_override(NULL, "profiling=1", "profiling=1");
    check_override("", "profiling=1", "profiling=1");
    check_override("profiling=1", "profiling=0", "profiling=0");
    check_override("profiling=1:split-mode=2", "split-mode=3:early-start=0",
                   "profiling=1:split-mode=3:early-start=0");
    check_override("split-mode=2:profiling=1", " split-mode = 3 ", "split-mode = 3:profiling=1");
    check_override("x:profiling=1:", "early-start=0:", "profiling=1:early-start=0");
    check_override("compile-options=a=b", "compile-options=c=d", "compile-options=c=d");
}

/* ---- The list ---- */

static void test_list(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    sk_options_list(out);
    fclose(out);
    const char *line = text, *meaning = strstr(text, "meaning");
    assert_non_null(meaning);
    size_t column = (size_t)(meaning - text);
    for (int i = -1; i < SK_OPTION_COUNT; i++) {
        const char *end = strchr(line, '\n');
        assert_non_null(end);
        if (i >= 0) {
            size_t key = strlen(sk_option_key((enum sk_option)i));
            assert_memory_equal(line, sk_option_key((enum sk_option)i), key);
            assert_memory_equal(line + key, "  ", 2);
        }
        assert_true((size_t)(end - line) > column);
        assert_memory_equal(line + column - 2, "  ", 2);
        assert_int_not_equal(line[column], ' ');
        line = end + 1;
    }
    assert_int_equal(*line, '\0');
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),    cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_powers),      cmocka_unit_test(test_choices),
        cmocka_unit_test(test_lists),       cmocka_unit_test(test_text),
        cmocka_unit_test(test_mistakes),    cmocka_unit_test(test_recovery),
        cmocka_unit_test(test_suggestions), cmocka_unit_test(test_escaped_span),
        cmocka_unit_test(test_hostile),     cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_override),    cmocka_unit_test(test_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
