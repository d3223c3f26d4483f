/* What scanners of foreign texts share: bytes found many at a time, decimal numbers, and the tokens
 * of Python, whose commonest ones have a way of their own. */
#include "frontend/import/text/decimal.h"
#include "frontend/import/text/python_text.h"
#include "ir/support/escapes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* -------------------------------------------------------------------- ir/support/escapes.h ---- */

static void test_either(void **state)
{
    (void)state;
    char text[48];
    for (size_t size = 0; size <= sizeof text; size++)
        for (size_t place = 0; place < sizeof text; place++) {
            memset(text, 'x', sizeof text);
            text[place] = place % 2 ? '(' : (char)0xff;
            const char *end = text + size;
            const char *expected = place < size ? text + place : end;
            assert_ptr_equal(bytes16_either(text, end, '(', (char)0xff), expected);
        }
}

/* -------------------------------------------------------------------- ir/support/escapes.h ---- */

/* As one would write it that has all time. */
static void put_slowly(struct text *text, unsigned char byte, enum escape_style style)
{
    const char *letters = "\nn\tt\rr\"\"\\\\";
    for (const char *at = letters; *at; at += 2)
        if (*at == (char)byte) {
            text_char(text, '\\');
            text_char(text, at[1]);
            return;
        }
    if (style == ESCAPE_HEX && (byte < 0x20 || byte == 0x7f))
        text_printf(text, "\\x%02x", byte);
    else if (style == ESCAPE_OCTAL && (byte < 0x20 || byte >= 0x7f))
        text_printf(text, "\\%03o", byte);
    else
        text_char(text, (char)byte);
}

/* All bytes, at all places of texts longer and shorter than those that are looked at together. */
static void test_escape_put(void **state)
{
    (void)state;
    struct text text = {NULL, 0, 0}, expected = {NULL, 0, 0};
    char bytes[40];
    for (unsigned byte = 0; byte < 256; byte++)
        for (size_t place = 0; place < sizeof bytes; place++)
            for (int style = ESCAPE_HEX; style <= ESCAPE_OCTAL; style++) {
                memset(bytes, 'x', sizeof bytes);
                bytes[place] = (char)byte;
                text.size = expected.size = 0;
                escape_put(&text, bytes, sizeof bytes, (enum escape_style)style);
                for (size_t i = 0; i < sizeof bytes; i++)
                    put_slowly(&expected, (unsigned char)bytes[i], (enum escape_style)style);
                assert_int_equal(text.size, expected.size);
                assert_memory_equal(text.at, expected.at, text.size);
            }
    text.size = 0;
    escape_put(&text, NULL, 0, ESCAPE_HEX);
    assert_int_equal(text.size, 0);
    text_free(&text);
    text_free(&expected);
}

/* -------------------------------------------------------------------- text/decimal.h ---- */

static void test_integers(void **state)
{
    (void)state;
    static const char *const good[] = {
        "0", "-0", "+7", "007", "999999999999999999", "-999999999999999999"};
    static const char *const bad[] = {
        "", "-", "+", "1.", "1e3", "0x1", " 1", "1 ", "1_0", "--1", "1000000000000000000"};
    int64_t value;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(decimal_integer(good[i], good[i] + strlen(good[i]), &value));
        assert_int_equal(value, strtoll(good[i], NULL, 10));
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(decimal_integer(bad[i], bad[i] + strlen(bad[i]), &value));
}

static void test_floats(void **state)
{
    (void)state;
    static const char *const good[] = {
        "0.0",
        "-0.0",
        "1.",
        ".5",
        "+1.5",
        "0.1",
        "inf",
        "1e23",
        "-nan",
        "1e5",
        "1e-9999",
        "9007199254740993",
        "0.10000000000000000555111512312578270211815834045410156250000"};
    static const char *const bad[] = {"",    ".",    "-",    "e5",    "1e",
                                      "1e+", "1.0 ", "1..0", "1.5ff", "f"};
    double value, expected;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(decimal_float(good[i], strlen(good[i]), &value));
        expected = strtod(good[i], NULL);
        assert_memory_equal(&value, &expected, sizeof value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(decimal_float(bad[i], strlen(bad[i]), &value));
    /* What follows the text is none of it, `_` says nothing, and an f may end it. */
    assert_true(decimal_float("1_0.5f9", 6, &value));
    assert_true(value == 10.5);
}

/* ------------------------------------------------------------------ text/python_text.h ---- */

/* The tokens of a text, each with a letter for its kind in front of it. */
static void check_tokens(const char *input, const char *expected)
{
    struct source source;
    struct diags diags;
    struct python_text python;
    struct text text = {NULL, 0, 0};
    assert_true(source_init_foreign(&source, "t", input, strlen(input)));
    diags_init(&diags, &source, "t");
    python_init(&python, &source, &diags);
    while (python_next(&python) != PYTHON_END && python.kind != PYTHON_ERROR) {
        text_char(&text, "E;NdSOCX"[python.kind]);
        if (python.kind != PYTHON_NEWLINE)
            text_bytes(&text, python.start, python.size);
        text_char(&text, ' ');
    }
    text_string(&text, python.kind == PYTHON_END ? "" : "error");
    text_char(&text, '\0');
    assert_string_equal(text.at, expected);
    text_free(&text);
    diags_free(&diags);
    source_free(&source);
}

static void test_tokens(void **state)
{
    (void)state;
    check_tokens("a_1, b2=ge.Add(x, [y])", "Na_1 C, Nb2 C= Nge.Add C( Nx C, C[ Ny C] C) ");
    check_tokens("a-b.c d- e", "Na-b.c Nd C- Ne ");
    check_tokens("r\"x\", rb'y', bar\"z\"", "Sr\"x\" C, Srb'y' C, Nbar S\"z\" ");
    check_tokens("na\xc3\xafve \xc3\xa9 a.\xc3\xa9", "Nna\xc3\xafve N\xc3\xa9 Na.\xc3\xa9 ");
    check_tokens("... a... .", "N... Na N... C. ");
    check_tokens("1.5e3 -inf inf _", "d1.5e3 d-inf Ninf N_ ");
    check_tokens("a\n(b\n)\n\t c \\\n d # e\nf", "Na ; C( Nb C) ; Nc Nd ; Nf ");
    check_tokens("<o 1> a<b", "O<o 1> Na C< Nb ");
    check_tokens(")", "error");
    check_tokens("a(", "Na C( error");
    check_tokens("", "");
}

/* What ends a string, and what does not, at all places of texts longer than those that are looked
 * at together. */
static void test_strings(void **state)
{
    (void)state;
    static const char *const inner[] = {"y", "\\\"", "\\\\", "\\n", "'", "\" no", "\n"};
    for (int before = 0; before < 40; before++)
        for (size_t i = 0; i < sizeof inner / sizeof inner[0]; i++) {
            char input[160], expected[200];
            snprintf(input, sizeof input, "(\"%*s%s%*s\")", before, "", inner[i], 40 - before, "");
            snprintf(expected, sizeof expected, "C( S\"%*s%s%*s\" C) ", before, "", inner[i],
                     40 - before, "");
            check_tokens(input, expected);
            snprintf(input, sizeof input, "'%*s\\'%*s'", before, "", 40 - before, "");
            snprintf(expected, sizeof expected, "S%s ", input);
            check_tokens(input, expected);
            snprintf(input, sizeof input, "'%*s%s", before, "", inner[i]);
            snprintf(expected, sizeof expected, *inner[i] == '\'' ? "S%s " : "error", input);
            check_tokens(input, expected);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_either),   cmocka_unit_test(test_escape_put),
        cmocka_unit_test(test_integers), cmocka_unit_test(test_floats),
        cmocka_unit_test(test_tokens),   cmocka_unit_test(test_strings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
