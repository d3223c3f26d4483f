/* Protobuf's text format: all kinds of tokens, values, and errors with their positions. */
#include "frontend/import/text/proto_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct fixture {
    struct source source;
    struct diags diags;
    struct proto_text proto;
};

static void open_bytes(struct fixture *fixture, const char *text, size_t size)
{
    assert_true(source_init_foreign(&fixture->source, "t", text, size));
    diags_init(&fixture->diags, &fixture->source, "t");
    proto_init(&fixture->proto, &fixture->source, &fixture->diags);
}

static void open_text(struct fixture *fixture, const char *text)
{
    open_bytes(fixture, text, strlen(text));
}

static void close_text(struct fixture *fixture)
{
    proto_free(&fixture->proto);
    diags_free(&fixture->diags);
    source_free(&fixture->source);
}

/* ---- What the cursor sees, in one line ---- */

static void print_field(struct proto_text *proto, const struct proto_field *field,
                        struct text *text)
{
    const char *bytes;
    size_t size;
    text_string(text, field->bracketed ? "[" : "");
    text_bytes(text, field->name, field->name_size);
    text_string(text, field->bracketed ? "]" : "");
    if (field->kind == PROTO_MESSAGE) {
        text_string(text, "{");
    } else if (field->kind == PROTO_STRING) {
        assert_true(proto_string(proto, field, &bytes, &size));
        text_string(text, field->plain ? "=\"" : "=e\"");
        text_bytes(text, bytes, size);
        text_string(text, "\" ");
    } else {
        text_string(text, field->kind == PROTO_NUMBER ? "=" : "=@");
        text_bytes(text, field->text, field->size);
        text_string(text, " ");
    }
}

static struct text walk(struct proto_text *proto)
{
    struct text text = {NULL, 0, 0};
    struct proto_field field;
    uint32_t depth = 0;
    for (;;) {
        if (proto_next(proto, &field)) {
            print_field(proto, &field, &text);
            if (field.kind == PROTO_MESSAGE) {
                proto_enter(proto);
                depth++;
            }
        } else if (depth-- == 0 || proto->failed) {
            break;
        } else {
            text_string(&text, "}");
        }
    }
    text_bytes(&text, "", 1);
    return text;
}

static void check_walk(const char *input, const char *expected)
{
    struct fixture fixture;
    open_text(&fixture, input);
    struct text text = walk(&fixture.proto);
    assert_false(fixture.proto.failed);
    assert_string_equal(text.at, expected);
    assert_int_equal(fixture.diags.list.count, 0);
    text_free(&text);
    close_text(&fixture);
}

static void test_fields(void **state)
{
    (void)state;
    check_walk("", "");
    check_walk(" \t\r\n\v\f# only a comment", "");
    check_walk("\xef\xbb\xbf"
               "a: 1",
               "a=1 ");
    check_walk("a: 1 b :x,c:'s';d: TRUE", "a=1 b=@x c=\"s\" d=@TRUE ");
    check_walk("a:1b:2", "a=1 b=2 ");
    check_walk("a # one\n : # two\n 1 # three", "a=1 ");
    check_walk("_A9: 1 12: 2 13 { 0: 3 }", "_A9=1 12=2 13{0=3 }");
    check_walk("a: 1 a: 2", "a=1 a=2 ");
}

static void test_messages(void **state)
{
    (void)state;
    check_walk("a { } b: { } c < > d: <>", "a{}b{}c{}d{}");
    check_walk("a { b < c { x: 1 }, > ; } y: 2", "a{b{c{x=1 }}}y=2 ");
    check_walk("a{x:1}b{}", "a{x=1 }b{}");
}

static void test_lists(void **state)
{
    (void)state;
    check_walk("a: [] b: [1] c: [1, -2.5, x, 's' 't']", "b=1 c=1 c=-2.5 c=@x c=e\"st\" ");
    check_walk("m [{x: 1}, <x: [2, 3]>, {}], n: [{}] o [] p: 1", "m{x=1 }m{x=2 x=3 }m{}n{}p=1 ");
    check_walk("[a.b]: [1, 2]", "[a.b]=1 [a.b]=2 ");
}

static void test_names(void **state)
{
    (void)state;
    check_walk("[a.b_1.c]: 1 [ x ] { }", "[a.b_1.c]=1 [x]{}");
    check_walk("[type.googleapis.com/a.b] { x: 1 }", "[type.googleapis.com/a.b]{x=1 }");
    check_walk("[ a-b.c%20/ # c\n x . y ]: 1", "[a-b.c%20/ # c\n x . y]=1 ");
}

static void test_numbers(void **state)
{
    (void)state;
    check_walk("a: 0 a: 017 a: 0x1F a: 0XAB a: -3 a: -0x1 a: -07",
               "a=0 a=017 a=0x1F a=0XAB a=-3 a=-0x1 a=-07 ");
    check_walk("a: .5 a: 1. a: 0.5e3 a: 1E-2f a: 2F a: -.5 a: 1e+4",
               "a=.5 a=1. a=0.5e3 a=1E-2f a=2F a=-.5 a=1e+4 ");
    check_walk("a: inf a: -inf a: -NaN a: -Infinityf a: - 5 a: - # c\n inf",
               "a=@inf a=@-inf a=@-NaN a=@-Infinityf a=- 5 a=@- # c\n inf ");
}

static void test_strings(void **state)
{
    (void)state;
    check_walk("a: '' a: \"\" a: \"it's\" a: 'a\"b'", "a=\"\" a=\"\" a=\"it's\" a=\"a\"b\" ");
    check_walk("a: 'x' \"y\"\n # c\n 'z' b: ''", "a=e\"xyz\" b=\"\" ");
    check_walk("a: '\\a\\b\\f\\n\\r\\t\\v\\?\\'\\\"\\\\'", "a=e\"\a\b\f\n\r\t\v?'\"\\\" ");
    check_walk("a: '\\1\\12\\1234\\777x'", "a=e\"\1\n\1234\xffx\" ");
    check_walk("a: '\\x41\\x4g\\X4a1'", "a=e\"A\x04gJ1\" ");
    check_walk("a: '\\u0041\\u00e9\\u20AC\\U0001F600'",
               "a=e\"A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\" ");
    check_walk("a: '\\ud83d\\ude00\\ud83dx\\ude00'",
               "a=e\"\xf0\x9f\x98\x80\xed\xa0\xbdx\xed\xb8\x80\" ");
    check_walk("a: 'gr\xc3\xbc\xc3\x9f \xff'", "a=\"gr\xc3\xbc\xc3\x9f \xff\" ");
    check_walk("a: '#{}<>[]' b { c: \"}\" }", "a=\"#{}<>[]\" b{c=\"}\" }");
}

/* Strings of all lengths, with an escape, a quote or an error at each place. */
static void test_long_strings(void **state)
{
    (void)state;
    static const char *const pieces[] = {"y",   "\\n",   "\"",      "{",
                                         "\\'", "\\101", "\\n\\\\", "\\x41\\u00e9"};
    static const char *const read[] = {"y", "\n", "\"", "{", "'", "A", "\n\\", "A\xc3\xa9"};
    for (int before = 0; before < 40; before++) {
        for (unsigned i = 0; i < sizeof read / sizeof read[0]; i++) {
            char input[128], expected[128];
            snprintf(input, sizeof input, "m { a: '%*s%s%*s' } b: 1 %20s", before, "", pieces[i],
                     40 - before, "", "");
            snprintf(expected, sizeof expected, "m{a=%s\"%*s%s%*s\" }b=1 ",
                     *pieces[i] == '\\' ? "e" : "", before, "", read[i], 40 - before, "");
            check_walk(input, expected);
        }
    }
}

static void test_zero_byte_in_string(void **state)
{
    (void)state;
    struct fixture fixture;
    struct proto_field field;
    const char *bytes;
    size_t size;
    open_text(&fixture, "a: 'x\\000\\0'");
    assert_true(proto_next(&fixture.proto, &field));
    assert_true(proto_string(&fixture.proto, &field, &bytes, &size));
    assert_int_equal(size, 3);
    assert_memory_equal(bytes, "x\0\0", 4);
    close_text(&fixture);
}

/* ---- Messages that nobody enters ---- */

static void test_passing_over(void **state)
{
    (void)state;
    struct fixture fixture;
    struct proto_field field;
    open_text(&fixture, "a { b < c: '}' # }\n d: \"\\\"}\" > [x.y/z]: [1, -2.e1f; 'q' ] } e: 1\n"
                        "l: [{ m {} }, { n: 1 }] f { } g { h: 2 }");
    static const char *const names[] = {"a", "e", "l", "l", "f", "g"};
    for (unsigned i = 0; i < 6; i++) {
        assert_true(proto_next(&fixture.proto, &field));
        assert_true(proto_is(&field, names[i]));
    }
    proto_enter(&fixture.proto);
    assert_true(proto_next(&fixture.proto, &field));
    assert_true(proto_is(&field, "h"));
    for (unsigned i = 0; i < 3; i++)
        assert_false(proto_next(&fixture.proto, &field));
    assert_false(fixture.proto.failed);
    close_text(&fixture);
}

static void test_leaving(void **state)
{
    (void)state;
    struct fixture fixture;
    struct proto_field field;
    open_text(&fixture, "a { x: 1 } b: 2");
    assert_true(proto_next(&fixture.proto, &field));
    proto_enter(&fixture.proto);
    proto_enter(&fixture.proto); /* there is nothing to enter */
    assert_true(proto_next(&fixture.proto, &field));
    assert_false(proto_next(&fixture.proto, &field));
    assert_true(proto_next(&fixture.proto, &field));
    assert_true(proto_is(&field, "b"));
    assert_false(proto_next(&fixture.proto, &field));
    close_text(&fixture);
}

/* ---- Positions ---- */

static void check_span(struct span span, uint32_t begin, uint32_t end)
{
    assert_int_equal(span.begin, begin);
    assert_int_equal(span.end, end);
}

static void test_positions(void **state)
{
    (void)state;
    struct fixture fixture;
    struct proto_field field;
    open_text(&fixture, "ab: 'x'\n 'y' [c.d]: [12,\n -\n 3] e {");
    assert_true(proto_next(&fixture.proto, &field));
    check_span(field.name_span, 0, 2);
    check_span(field.span, 4, 7); /* to the end of its line */
    assert_int_equal(field.size, 8);
    assert_true(proto_next(&fixture.proto, &field));
    check_span(field.span, 21, 23);
    assert_true(proto_next(&fixture.proto, &field));
    check_span(field.span, 26, 27);
    assert_true(proto_next(&fixture.proto, &field));
    check_span(field.name_span, 32, 33);
    check_span(field.span, 34, 35);
    close_text(&fixture);
}

/* ---- Values ---- */

static bool first_field(struct fixture *fixture, const char *value, struct proto_field *field)
{
    static char text[4096];
    snprintf(text, sizeof text, "a: %s", value);
    open_text(fixture, text);
    return proto_next(&fixture->proto, field);
}

/* `message` is the error's, or NULL. */
static void check_result(struct fixture *fixture, bool done, const char *message)
{
    assert_int_equal(done, message == NULL);
    assert_int_equal(fixture->diags.list.count, message != NULL);
    assert_int_equal(fixture->proto.failed, message != NULL);
    if (message) {
        assert_string_equal(fixture->diags.list.at[0].text, message);
        assert_int_equal(fixture->diags.list.at[0].span.begin, 3);
    }
    close_text(fixture);
}

static void check_integer(const char *value, int64_t expected, const char *message)
{
    struct fixture fixture;
    struct proto_field field;
    int64_t got = 0;
    assert_true(first_field(&fixture, value, &field));
    assert_int_equal(proto_integer(NULL, &field, &got), message == NULL);
    bool done = proto_integer(&fixture.proto, &field, &got);
    assert_true(!done || got == expected);
    check_result(&fixture, done, message);
}

static void test_integers(void **state)
{
    (void)state;
    static const char range[] = "this number does not fit 64 bits";
    static const char kind[] = "an integer is expected here";
    check_integer("0", 0, NULL);
    check_integer("-0", 0, NULL);
    check_integer("0x7fFFffffFFFFffff", INT64_MAX, NULL);
    check_integer("9223372036854775807", INT64_MAX, NULL);
    check_integer("-9223372036854775808", INT64_MIN, NULL);
    check_integer("-01000000000000000000000", INT64_MIN, NULL);
    check_integer("18446744073709551615", -1, NULL);
    check_integer("- # minus\n 017", -15, NULL);
    check_integer("18446744073709551616", 0, range);
    check_integer("-9223372036854775809", 0, range);
    check_integer("0x10000000000000000", 0, range);
    check_integer("99999999999999999999999999", 0, range);
    check_integer("1.0", 0, kind);
    check_integer("1e3", 0, kind);
    check_integer("1f", 0, kind);
    check_integer("word", 0, kind);
    check_integer("'1'", 0, kind);
    check_integer("{}", 0, kind);
}

static void check_float(const char *value, double expected, const char *message)
{
    struct fixture fixture;
    struct proto_field field;
    double got = 0;
    assert_true(first_field(&fixture, value, &field));
    bool done = proto_float(&fixture.proto, &field, &got);
    assert_true(!done || memcmp(&got, &expected, sizeof got) == 0 ||
                (isnan(got) && isnan(expected)));
    check_result(&fixture, done, message);
}

static void test_floats(void **state)
{
    (void)state;
    static const char kind[] = "a number is expected here";
    check_float("0", 0, NULL);
    check_float("-0", -0.0, NULL);
    check_float("0.5", 0.5, NULL);
    check_float("00", 0, NULL);
    check_float("017", 15, NULL);
    check_float("-0x10", -16, NULL);
    check_float("1.5f", 1.5, NULL);
    check_float("2F", 2, NULL);
    check_float(".25e2", 25, NULL);
    check_float("0.1", 0.1, NULL);
    check_float("123456789012345678901234567890", 123456789012345678901234567890., NULL);
    check_float("1e999", HUGE_VAL, NULL);
    check_float("-  1.", -1, NULL);
    check_float(
        "0.10000000000000000000000000000000000000000000000000000000000000000000000000000000", 0.1,
        NULL);
    check_float("inf", HUGE_VAL, NULL);
    check_float("-Infinity", -HUGE_VAL, NULL);
    check_float("INFF", HUGE_VAL, NULL);
    check_float("infinityf", HUGE_VAL, NULL);
    check_float("nan", (double)NAN, NULL);
    check_float("-nanf", (double)NAN, NULL);
    check_float("infinit", 0, kind);
    check_float("'1'", 0, kind);
    check_float("{}", 0, kind);
}

static void check_bool(const char *value, bool expected, const char *message)
{
    struct fixture fixture;
    struct proto_field field;
    bool got = !expected;
    assert_true(first_field(&fixture, value, &field));
    bool done = proto_bool(&fixture.proto, &field, &got);
    assert_true(!done || got == expected);
    check_result(&fixture, done, message);
}

static void test_bools(void **state)
{
    (void)state;
    static const char kind[] = "true or false is expected here";
    check_bool("true", true, NULL);
    check_bool("True", true, NULL);
    check_bool("t", true, NULL);
    check_bool("0x1", true, NULL);
    check_bool("false", false, NULL);
    check_bool("False", false, NULL);
    check_bool("f", false, NULL);
    check_bool("0", false, NULL);
    check_bool("TRUE", false, kind);
    check_bool("2", false, kind);
    check_bool("-1", false, kind);
    check_bool("'true'", false, kind);
}

static void test_no_string(void **state)
{
    (void)state;
    struct fixture fixture;
    struct proto_field field;
    const char *bytes;
    size_t size;
    assert_true(first_field(&fixture, "12", &field));
    assert_false(proto_string(NULL, &field, &bytes, &size));
    check_result(&fixture, proto_string(&fixture.proto, &field, &bytes, &size),
                 "a string is expected here");
}

/* ---- Errors ---- */

static void check_diag(struct fixture *fixture, uint32_t begin, uint32_t end, const char *message,
                       const char *help)
{
    assert_true(fixture->proto.failed);
    assert_int_equal(fixture->diags.list.count, 1);
    const struct diag *diag = &fixture->diags.list.at[0];
    assert_int_equal(diag->id, DIAG_foreign_syntax);
    assert_string_equal(diag->text, message);
    check_span(diag->span, begin, end);
    assert_int_equal(diag->notes != NULL, help != NULL);
    if (help)
        assert_string_equal(diag->notes->text, help);
    struct proto_field field;
    assert_false(proto_next(&fixture->proto, &field));
    assert_int_equal(fixture->diags.list.count, 1);
}

static void check_bytes_error(const char *input, size_t size, uint32_t begin, uint32_t end,
                              const char *message, const char *help)
{
    struct fixture fixture;
    open_bytes(&fixture, input, size);
    struct text text = walk(&fixture.proto);
    text_free(&text);
    check_diag(&fixture, begin, end, message, help);
    close_text(&fixture);
}

static void check_error(const char *input, uint32_t begin, uint32_t end, const char *message,
                        const char *help)
{
    check_bytes_error(input, strlen(input), begin, end, message, help);
}

/* The same where the outermost messages are passed over. */
static void check_passed(const char *input, uint32_t begin, uint32_t end, const char *message,
                         const char *help)
{
    struct fixture fixture;
    struct proto_field field;
    open_text(&fixture, input);
    while (proto_next(&fixture.proto, &field))
        ;
    check_diag(&fixture, begin, end, message, help);
    close_text(&fixture);
}

static void test_field_errors(void **state)
{
    (void)state;
    check_error("a 1", 2, 3, "expected ':' or '{' here, not '1'", NULL);
    check_error("a", 1, 1, "the text ends where ':' or '{' is expected", NULL);
    check_error("a:", 2, 2, "the text ends where a value is expected", NULL);
    check_error("a: }", 3, 4, "expected a value here, not '}'", NULL);
    check_error("a: 1 : 2", 5, 6, "expected the name of a field here, not ':'", NULL);
    check_error(", a: 1", 0, 1, "expected the name of a field here, not ','", NULL);
    check_error("a: 1,; b: 1", 5, 6, "expected the name of a field here, not ';'", NULL);
    check_error("a: 1 \"x\"", 5, 6, "expected the name of a field here, not '\"'", NULL);
    check_error("[]: 1", 0, 1, "this is no name of an extension or of an Any",
                "for example [package.name] or [type.googleapis.com/package.Name]");
    check_error("a: -b", 4, 5, "expected a number behind the '-'", NULL);
    check_error("a: - 'x'", 5, 6, "expected a number here, not '''", NULL);
    check_error("a: - -1", 5, 6, "expected a number here, not '-'", NULL);
}

static void test_message_errors(void **state)
{
    (void)state;
    static const char help[] = "is the rest of the file missing?";
    check_error("a { b < }", 8, 9, "expected '>' at the end of this message, not '}'", NULL);
    check_passed("a { b < }", 8, 9, "expected '>' at the end of this message, not '}'", NULL);
    check_error("a: 1 }", 5, 6, "no message is open that this '}' ends", NULL);
    check_error("a { b { }", 2, 3, "this message is not ended by '}'", help);
    check_passed("a { b < ", 6, 7, "this message is not ended by '>'", help);
    check_passed("a { b: 'x }", 7, 11, "this string does not end on its line",
                 "a line break in a string is written \\n");
    check_passed("a {                \x01                 }", 19, 20, "unexpected byte 0x01",
                 "a binary message must be made text first, for example by protoc --decode");
    check_passed("a {                |                 }", 19, 20, "unexpected character '|'",
                 NULL);
    check_passed("a { @ }", 4, 5, "unexpected character '@'", NULL);
}

static void test_list_errors(void **state)
{
    (void)state;
    check_error("a: [1 2]", 6, 7, "expected ',' or ']' here, not '2'", NULL);
    check_error("a: [1,]", 6, 7, "expected a value here, not ']'", NULL);
    check_error("a: [[1]]", 4, 5, "a list may not be in a list", NULL);
    check_error("a: [1", 5, 5, "the text ends where ',' or ']' is expected", NULL);
    check_error("a [1]", 2, 3, "expected ':' before this list",
                "only messages may do without the colon");
}

static void test_number_errors(void **state)
{
    (void)state;
    static const char *const wrong[] = {"08", "0x", "1e", "1e+", "1.2.", "0x1.", "017.", "-1e-"};
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char input[32];
        int size = snprintf(input, sizeof input, "a: %s", wrong[i]);
        check_error(input, 3, (uint32_t)size, "this number is malformed",
                    "numbers are decimal, octal behind a 0, hexadecimal behind 0x, or floats");
    }
}

static void test_string_errors(void **state)
{
    (void)state;
    static const char unended[] = "this string does not end on its line";
    static const char line[] = "a line break in a string is written \\n";
    static const char escape[] = "this escape is none of protobuf's";
    static const char escapes[] =
        "escapes are \\a \\b \\f \\n \\r \\t \\v \\? \\' \\\" \\\\, one to "
        "three octal digits, \\xHH, \\uHHHH and \\UHHHHHHHH";
    check_error("a: 'x", 3, 5, unended, line);
    check_error("a: 'x\ny'", 3, 5, unended, line);
    check_error("a: 'x\\\ny'", 3, 5, unended, line);
    check_error("a: 'x\\", 3, 5, unended, line);
    check_error("a: 'x' \"y", 7, 9, unended, line);
    check_error("a: 'x\\q'", 5, 7, escape, escapes);
    check_error("a: '\\8'", 4, 6, escape, escapes);
    check_error("a: '\\xg'", 4, 6, escape, escapes);
    check_error("a: '\\u12g4'", 4, 6, escape, escapes);
    check_error("a: '\\U00110000'", 4, 6, escape, escapes);
}

static void test_byte_errors(void **state)
{
    (void)state;
    static const char binary[] =
        "a binary message must be made text first, for example by protoc --decode";
    static const char ascii[] = "characters beyond ASCII may stand in strings only";
    check_error("a: @", 3, 4, "expected a value here, not '@'", NULL);
    check_error("\x08\x01", 0, 1, "unexpected byte 0x08", binary);
    check_error("a: \xc3\xbc", 3, 4, "unexpected byte 0xc3", ascii);
    check_error("\xc3\xbc: 1", 0, 1, "unexpected byte 0xc3", ascii);
    check_bytes_error("a: 1\0b: 2", 9, 4, 5, "unexpected byte 0x00", binary);
    check_bytes_error("a: '\0'", 6, 4, 5, "unexpected byte 0x00", binary);
    check_bytes_error("a # \0\n: 1", 9, 4, 5, "unexpected byte 0x00", binary);
    check_bytes_error("a:\0", 3, 2, 3, "unexpected byte 0x00", binary);
}

/* Text with `depth` messages in each other. */
static struct text nest(unsigned depth)
{
    struct text text = {NULL, 0, 0};
    for (unsigned i = 0; i < depth; i++)
        text_string(&text, "a{");
    for (unsigned i = 0; i < depth; i++)
        text_string(&text, "}");
    text_bytes(&text, "", 1);
    return text;
}

static void test_depth(void **state)
{
    (void)state;
    struct text most = nest(PROTO_DEPTH), more = nest(PROTO_DEPTH + 1);
    static const char message[] = "messages are nested more than 256 deep";
    check_walk(most.at, most.at);
    check_error(more.at, 2 * PROTO_DEPTH + 1, 2 * PROTO_DEPTH + 2, message, NULL);
    check_passed(more.at, 2 * PROTO_DEPTH + 1, 2 * PROTO_DEPTH + 2, message, NULL);
    text_free(&most);
    text_free(&more);
}

/* ---- Texts within strings ---- */

/* The text of the string at the beginning of `input`. */
static void check_inner(const char *input, const char *expected, const char *message,
                        const char *help)
{
    struct fixture fixture;
    struct proto_text inner;
    struct proto_field field;
    const char *bytes;
    size_t size;
    open_text(&fixture, input);
    assert_true(proto_next(&fixture.proto, &field));
    assert_true(proto_string(&fixture.proto, &field, &bytes, &size));
    proto_init_inner(&inner, bytes, size, field.span, &fixture.diags);
    struct text text = walk(&inner);
    assert_string_equal(text.at, expected);
    assert_int_equal(inner.failed, message != NULL);
    if (message) {
        assert_string_equal(fixture.diags.list.at[0].text, message);
        assert_string_equal(fixture.diags.list.at[0].notes->text, help);
        check_span(fixture.diags.list.at[0].span, field.span.begin, field.span.end);
    }
    text_free(&text);
    proto_free(&inner);
    close_text(&fixture);
}

static void test_inner(void **state)
{
    (void)state;
    check_inner("a: 'b: 1 c { d: \"x\" }'", "b=1 c{d=\"x\" }", NULL, NULL);
    check_inner("a: \"b: 1\\nc { d: \\\"x\\\\n\\\" }\"", "b=1 c{d=e\"x\n\" }", NULL, NULL);
    check_inner("a: 'b: \"x' # \"", "", "this string does not end on its line",
                "in the text of this string: line 1, column 4");
    check_inner("a: 'b: 1\\n\\n \\303\\274'", "b=1 ", "unexpected byte 0xc3",
                "in the text of this string: line 3, column 2");
}

/* ---- What readers say ---- */

static void test_fail(void **state)
{
    (void)state;
    struct fixture fixture;
    struct proto_field field;
    open_text(&fixture, "a: 1 b: 2");
    assert_true(proto_next(&fixture.proto, &field));
    proto_fail(&fixture.proto, field.span, "no %s", "good");
    check_diag(&fixture, 3, 4, "no good", NULL);
    close_text(&fixture);
}

/* Without diagnostics, errors are silent. */
static void test_silent(void **state)
{
    (void)state;
    struct fixture fixture;
    struct proto_field field;
    open_text(&fixture, "a b");
    fixture.proto.diags = NULL;
    assert_false(proto_next(&fixture.proto, &field));
    assert_true(fixture.proto.failed);
    proto_fail(&fixture.proto, no_span, "nothing");
    assert_int_equal(fixture.diags.list.count, 0);
    close_text(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),         cmocka_unit_test(test_messages),
        cmocka_unit_test(test_lists),          cmocka_unit_test(test_names),
        cmocka_unit_test(test_numbers),        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_long_strings),   cmocka_unit_test(test_zero_byte_in_string),
        cmocka_unit_test(test_passing_over),   cmocka_unit_test(test_leaving),
        cmocka_unit_test(test_positions),      cmocka_unit_test(test_integers),
        cmocka_unit_test(test_floats),         cmocka_unit_test(test_bools),
        cmocka_unit_test(test_no_string),      cmocka_unit_test(test_field_errors),
        cmocka_unit_test(test_message_errors), cmocka_unit_test(test_list_errors),
        cmocka_unit_test(test_number_errors),  cmocka_unit_test(test_string_errors),
        cmocka_unit_test(test_byte_errors),    cmocka_unit_test(test_depth),
        cmocka_unit_test(test_inner),          cmocka_unit_test(test_fail),
        cmocka_unit_test(test_silent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
