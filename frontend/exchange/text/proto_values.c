#include "frontend/exchange/text/proto_error.h"
#include "frontend/exchange/text/proto_text.h"
#include "ir/base/escapes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* The field's value is not what it should be. */
static bool fail_value(struct proto_text *proto, const struct proto_field *field, const char *what)
{
    if (!proto)
        return false;
    return proto_error(proto, field->text, field->text + field->size, NULL, "%s", what);
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Behind blanks and comments. */
static const char *skip_blank(const char *p, const char *end)
{
    for (; p < end; p++) {
        if (*p == '#') {
            const char *line = memchr(p, '\n', (size_t)(end - p));
            p = line ? line : end - 1;
        } else if (!is_blank(*p)) {
            break;
        }
    }
    return p;
}

/* ---- Strings ---- */

static unsigned digit(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a' + 10);
}

static bool is_digit(char c, unsigned base)
{
    return ((c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')) && digit(c) < base;
}

/* One literal, its opening quote at *p. */
static char *take_literal(const char **p, const char *end, char *out)
{
    char quote = *(*p)++;
    for (const char *close = NULL;;) {
        if (!close || close < *p) /* else it is still the next one */
            close = memchr(*p, quote, (size_t)(end - *p));
        const char *escape = memchr(*p, '\\', (size_t)(close - *p));
        const char *stop = escape ? escape : close;
        memcpy(out, *p, (size_t)(stop - *p));
        out += stop - *p;
        *p = stop + 1;
        if (!escape)
            return out;
        *p = escape_take(*p, end, &out); /* the scanner has checked it */
    }
}

bool proto_string(struct proto_text *proto, const struct proto_field *field, const char **bytes,
                  size_t *size)
{
    if (field->kind != PROTO_STRING)
        return fail_value(proto, field, "a string is expected here");
    if (field->plain) {
        *bytes = field->text + 1;
        *size = field->size - 2;
        return true;
    }
    if (!proto)
        return false;
    struct text *scratch = &proto->scratch;
    scratch->size = 0;
    if (scratch->capacity <= field->size)
        text_grow(scratch, field->size);
    char *out = scratch->at;
    const char *end = field->text + field->size;
    for (const char *p = field->text; p < end; p = skip_blank(p, end))
        out = take_literal(&p, end, out);
    *out = '\0';
    *bytes = scratch->at;
    *size = scratch->size = (size_t)(out - scratch->at);
    return true;
}

/* ---- Numbers ---- */

/* The digits of a number behind its sign, which may stand apart. */
static const char *find_digits(const struct proto_field *field, bool *minus)
{
    *minus = *field->text == '-';
    return *minus ? skip_blank(field->text + 1, field->text + field->size) : field->text;
}

static unsigned find_base(const char **p, const char *end)
{
    if (end - *p < 2 || **p != '0')
        return 10;
    if (((*p)[1] | 0x20) != 'x')
        return 8;
    *p += 2;
    return 16;
}

enum parsed { PARSED, NOT_INTEGER, TOO_LARGE };

static enum parsed parse_integer(const struct proto_field *field, int64_t *value)
{
    bool minus;
    const char *p = find_digits(field, &minus), *end = field->text + field->size;
    unsigned base = find_base(&p, end);
    uint64_t number = 0;
    bool large = false;
    for (; p < end; p++) {
        if (!is_digit(*p, base))
            return NOT_INTEGER;
        large |= __builtin_mul_overflow(number, (uint64_t)base, &number);
        large |= __builtin_add_overflow(number, (uint64_t)digit(*p), &number);
    }
    if (large || (minus && number > UINT64_C(1) << 63))
        return TOO_LARGE;
    *value = (int64_t)(minus ? 0 - number : number);
    return PARSED;
}

bool proto_integer(struct proto_text *proto, const struct proto_field *field, int64_t *value)
{
    enum parsed parsed = field->kind == PROTO_NUMBER ? parse_integer(field, value) : NOT_INTEGER;
    if (parsed == PARSED)
        return true;
    return fail_value(proto, field,
                      parsed == TOO_LARGE ? "this number does not fit 64 bits"
                                          : "an integer is expected here");
}

static bool equal_word(const char *word, size_t size, const char *other)
{
    for (; size > 0 && *other != '\0'; size--, word++, other++)
        if ((*word | 0x20) != *other)
            return false;
    return size == 0 && *other == '\0';
}

/* inf, infinity and nan, in letters of any case, and with an f behind them. */
static bool parse_word(const char *word, size_t size, double *value)
{
    if (size > 3 && (word[size - 1] | 0x20) == 'f')
        size--;
    bool inf = equal_word(word, size, "inf") || equal_word(word, size, "infinity");
    *value = inf ? HUGE_VAL : (double)NAN;
    return inf || equal_word(word, size, "nan");
}

/* Hexadecimal and octal integers of any size. */
static double parse_digits(const char *p, const char *end, unsigned base)
{
    double number = 0;
    for (; p < end; p++)
        number = number * base + digit(*p);
    return number;
}

/* Without a NUL at its end, strtod could read on into what follows. */
static double parse_decimal(const char *p, const char *end)
{
    char small[64];
    size_t size = (size_t)(end - p);
    char *text = size < sizeof small ? small : mem_realloc(NULL, size + 1, 1);
    memcpy(text, p, size);
    text[size] = '\0';
    double number = strtod(text, NULL);
    if (text != small)
        mem_free(text);
    return number;
}

static double parse_number(const char *p, const char *end)
{
    const char *digits = p;
    unsigned base = find_base(&digits, end);
    if (base == 8) /* or 0.5 */
        for (const char *q = p; q < end && base == 8; q++)
            base = is_digit(*q, 8) ? 8 : 10;
    return base == 10 ? parse_decimal(p, end) : parse_digits(digits, end, base);
}

bool proto_float(struct proto_text *proto, const struct proto_field *field, double *value)
{
    bool minus = false, known = field->kind == PROTO_NUMBER || field->kind == PROTO_WORD;
    const char *p = known ? find_digits(field, &minus) : NULL;
    const char *end = field->text + field->size;
    if (field->kind == PROTO_NUMBER)
        *value = parse_number(p, end);
    else
        known = known && parse_word(p, (size_t)(end - p), value);
    if (!known)
        return fail_value(proto, field, "a number is expected here");
    *value = minus ? -*value : *value;
    return true;
}

bool proto_bool(struct proto_text *proto, const struct proto_field *field, bool *value)
{
    static const char *const words[] = {"false", "False", "f", "true", "True", "t"};
    int64_t number;
    if (field->kind == PROTO_NUMBER && parse_integer(field, &number) == PARSED &&
        (number == 0 || number == 1)) {
        *value = number == 1;
        return true;
    }
    for (unsigned i = 0; field->kind == PROTO_WORD && i < 6; i++) {
        if (field->size != strlen(words[i]) || memcmp(field->text, words[i], field->size) != 0)
            continue;
        *value = i >= 3;
        return true;
    }
    return fail_value(proto, field, "true or false is expected here");
}
