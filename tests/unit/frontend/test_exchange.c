/* Formats of others: which one is meant, and writers whose output nobody takes. */
#include "frontend/exchange.h"
#include "tests/unit/parsed_module.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* --------------------------------------------------------------------------- choice ---- */

static bool looks_empty(const struct source *source)
{
    return source->size == 0;
}

static bool read_nothing(struct dump *dump)
{
    (void)dump;
    return false;
}

static bool write_nothing(struct print_sink *sink, const struct module *module)
{
    (void)sink;
    (void)module;
    return true;
}

static const struct exchange_format formats[] = {
    {"both", ".both", "", looks_empty, read_nothing, write_nothing, NULL, false},
    {"in-only", ".in", "", looks_empty, read_nothing, NULL, NULL, false},
    {"out-only", ".out", "", NULL, NULL, write_nothing, NULL, false},
    {"other", ".other", "", NULL, NULL, write_nothing, NULL, false},
};
static const struct exchange_table table = {formats, sizeof formats / sizeof formats[0]};

/* `expected` is the name of a format, or the message. */
static void check_choice(enum exchange_use use, const char *name, const char *path,
                         const char *expected)
{
    struct text error = {NULL, 0, 0};
    const struct exchange_format *format = exchange_choose(&table, use, name, path, &error);
    text_char(&error, '\0');
    assert_string_equal(format ? format->name : error.at, expected);
    assert_true(!format || error.size == 1);
    text_free(&error);
}

static void test_choice(void **state)
{
    (void)state;
    check_choice(EXCHANGE_WRITE, "both", NULL, "both");
    check_choice(EXCHANGE_READ, "both", "x.in", "both");
    check_choice(EXCHANGE_WRITE, NULL, "x.other", "other");
    check_choice(EXCHANGE_READ, NULL, "a.both/x.in", "in-only");
    check_choice(EXCHANGE_WRITE, "oter", "x.both",
                 "there is no format 'oter', only 'both' (.both), 'out-only' (.out) or 'other' "
                 "(.other); did you mean 'other'?");
    check_choice(EXCHANGE_READ, "oter", NULL,
                 "there is no format 'oter', only 'both' (.both) or 'in-only' (.in)");
    check_choice(
        EXCHANGE_WRITE, "in-only", NULL,
        "the format 'in-only' cannot be written, only 'both' (.both), 'out-only' (.out) or "
        "'other' (.other)");
    check_choice(EXCHANGE_READ, NULL, "x.out",
                 "the format 'out-only' cannot be read, only 'both' (.both) or 'in-only' (.in)");
    check_choice(EXCHANGE_READ, NULL, NULL,
                 "say by --format=NAME which: 'both' (.both) or 'in-only' (.in)");
    check_choice(EXCHANGE_READ, NULL, "x.pdf",
                 "the name 'x.pdf' does not tell the format; say by --format=NAME which: 'both' "
                 "(.both) or 'in-only' (.in)");
    check_choice(EXCHANGE_READ, NULL, ".in",
                 "the name '.in' does not tell the format; say by --format=NAME which: 'both' "
                 "(.both) or 'in-only' (.in)");
}

/* ---------------------------------------------------------------------------- sinks ---- */

/* Takes `left` bytes, and counts calls after that. */
struct small_sink {
    struct print_sink sink;
    size_t left;
    unsigned refused;
};

static bool take(struct print_sink *sink, const char *bytes, size_t size)
{
    struct small_sink *small = (struct small_sink *)sink;
    (void)bytes;
    bool fits = size <= small->left;
    small->left -= fits ? size : 0;
    small->refused += !fits;
    return fits;
}

/* A module that every format can have. */
static struct text many_ops(unsigned count)
{
    struct text text = {NULL, 0, 0};
    text_string(&text, "skir 1\nkernel @add : aiv_only {block = 1, _json = \"add.json\"}\n"
                       "graph @g(%x: f32[1]) -> () {\nsuperkernel @s {\n");
    for (unsigned i = 0; i < count; i++)
        text_printf(&text, "%%y%u = Add(%%x, %%x) : f32[1] via @add\n", i);
    text_string(&text, "}\n}\n");
    return text;
}

/* However small the sink is, it refuses one piece. */
static void check_sinks(exchange_writer *write, const struct module *module)
{
    struct small_sink large = {{take}, SIZE_MAX, 0};
    assert_true(write(&large.sink, module));
    size_t size = SIZE_MAX - large.left;
    const size_t sizes[] = {0, size / 3, size / 3 * 2, size - 1};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct small_sink small = {{take}, sizes[i], 0};
        assert_false(write(&small.sink, module));
        assert_int_equal(small.refused, 1);
    }
}

/* A writer stops where nobody takes its text, and says so; it asks no second time. */
static void test_refused_output(void **state)
{
    (void)state;
    struct text text = many_ops(5000);
    struct parsed_module parsed;
    parsed_init(&parsed, text.at, text.size);
    assert_true(verify_module(parsed.module, &parsed.diags));
    for (unsigned i = 0; i < exchange_formats.count; i++)
        if (exchange_formats.formats[i].write)
            check_sinks(exchange_formats.formats[i].write, parsed.module);
    parsed_free(&parsed);
    text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_refused_output),
    };
    return cmocka_run_group_tests_name("exchange", tests, NULL, NULL);
}
