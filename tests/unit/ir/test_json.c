/* JSON as it is written: layout, escapes, and bytes that are no UTF-8. */
#include "ir/support/json.h"
#include "ir/support/text.h"

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void check_text(struct text *text, const char *expected)
{
    text_char(text, '\0');
    assert_string_equal(text->at, expected);
    text_free(text);
}

/* An object with members of all kinds, empty and nested containers among them. */
static void write_sample(struct json *json)
{
    json_open_object(json);
    json_add_string(json, "s", "t");
    json_add_unsigned(json, "n", 1);
    json_key(json, "list");
    json_open_array(json);
    json_null(json);
    json_open_object(json);
    json_key(json, "k");
    json_bool(json, true);
    json_key(json, "e");
    json_open_array(json);
    json_close_array(json);
    json_close_object(json);
    json_line(json);
    json_open_object(json);
    json_close_object(json);
    json_close_array(json);
    json_close_object(json);
}

static void test_layout(void **state)
{
    (void)state;
    struct text text = {NULL, 0, 0};
    write_sample(&(struct json){.text = &text});
    check_text(&text, "{\"s\":\"t\",\"n\":1,\"list\":[null,{\"k\":true,\"e\":[]},\n{}]}");
    write_sample(&(struct json){.text = &text, .indented = true});
    check_text(&text,
               "{\n\t\"s\":\t\"t\",\n\t\"n\":\t1,\n\t\"list\":\t[null, {\n\t\t\t\"k\":\ttrue,\n"
               "\t\t\t\"e\":\t[]\n\t\t},\n\t\t{}]\n}");
}

static void test_strings(void **state)
{
    (void)state;
    static const char bytes[] = "a\"\\/\b\f\n\r\t\x01\x1f\x7f\0z";
    struct text text = {NULL, 0, 0};
    struct json json = {.text = &text};
    json_open_object(&json);
    json_add_bytes(&json, "\"\n", bytes, sizeof bytes - 1);
    json_close_object(&json);
    check_text(&text, "{\"\\\"\\n\":\"a\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\\u0000z\"}");
}

static void test_numbers(void **state)
{
    (void)state;
    static const double numbers[] = {0, -0.0, 1, 0.1, 1e300, -DBL_MIN, 5e-324};
    struct text text = {NULL, 0, 0};
    struct json json = {.text = &text};
    json_open_array(&json);
    json_unsigned(&json, UINT64_MAX);
    json_signed(&json, INT64_MIN);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        json_double(&json, numbers[i]);
    json_close_array(&json);
    check_text(&text, "[18446744073709551615,-9223372036854775808,0.0,-0.0,1.0,0.1,1e+300,"
                      "-2.2250738585072014e-308,5e-324]");
}

/* Well-formed code points stay; every other byte is replaced by itself. */
static void test_utf8(void **state)
{
    (void)state;
#define BAD "\xef\xbf\xbd"
    static const char *const cases[][2] = {
        {"plain", "plain"},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"a\x80z", "a" BAD "z"},
        {"\xc3", BAD},                            /* cut */
        {"\xe2\x82", BAD BAD},                    /* cut */
        {"\xc3(", BAD "("},                       /* no continuation */
        {"\xc0\x80", BAD BAD},                    /* overlong */
        {"\xe0\x80\x80", BAD BAD BAD},            /* overlong */
        {"\xed\xa0\x80", BAD BAD BAD},            /* a surrogate */
        {"\xf4\x90\x80\x80", BAD BAD BAD BAD},    /* beyond the last code point */
        {"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"}, /* the last one */
        {"\xff\xfe", BAD BAD},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct text text = {NULL, 0, 0};
        text_utf8(&text, cases[i][0], strlen(cases[i][0]));
        check_text(&text, cases[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_utf8),
    };
    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
