#include "ir/support/escapes.h"
#include "ir/support/text.h"

static unsigned digit(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a' + 10);
}

static int is_digit(char c, unsigned base)
{
    return ((c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')) && digit(c) < base;
}

/* `least` to `most` digits; NULL where there are fewer. */
static const char *take_digits(const char *p, const char *end, unsigned base, unsigned least,
                               unsigned most, uint32_t *value)
{
    unsigned count = 0;
    *value = 0;
    for (; count < most && p < end && is_digit(*p, base); count++)
        *value = *value * base + digit(*p++);
    return count < least ? NULL : p;
}

static char *put_code_point(char *out, uint32_t code)
{
    static const unsigned char heads[] = {0, 0xc0, 0xe0, 0xf0};
    unsigned more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    *out++ = (char)(heads[more] | code >> (6 * more));
    while (more-- > 0)
        *out++ = (char)(0x80 | ((code >> (6 * more)) & 0x3f));
    return out;
}

/* A code point, which may be written as two surrogates. One of them alone stands for itself. */
static const char *take_code_point(const char *p, const char *end, char **out)
{
    uint32_t code, low;
    unsigned count = *p++ == 'u' ? 4 : 8;
    p = take_digits(p, end, 16, count, count, &code);
    if (!p || code > 0x10ffff)
        return NULL;
    if (code >= 0xd800 && code < 0xdc00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u') {
        const char *second = take_digits(p + 2, end, 16, 4, 4, &low);
        if (second && low >= 0xdc00 && low < 0xe000) {
            p = second;
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        }
    }
    *out = put_code_point(*out, code);
    return p;
}

const char *escape_take_any(const char *p, const char *end, char **out)
{
    static const char letters[] = "abfnrtv?'\"\\", bytes[] = "\a\b\f\n\r\t\v?'\"\\";
    uint32_t value = 0;
    if (p == end)
        return NULL;
    if (*p == 'u' || *p == 'U')
        return take_code_point(p, end, out);
    if (escape_is_octal(*p)) {
        p = take_digits(p, end, 8, 1, 3, &value);
    } else if (*p == 'x' || *p == 'X') {
        p = take_digits(p + 1, end, 16, 1, 2, &value);
    } else {
        const char *letter = memchr(letters, *p, sizeof letters - 1);
        p = letter ? p + 1 : NULL;
        value = letter ? (unsigned char)bytes[letter - letters] : 0;
    }
    if (p)
        *(*out)++ = (char)value;
    return p;
}

static inline bool is_plain(unsigned char byte, enum escape_style style)
{
    return byte >= 0x20 && byte != '"' && byte != '\\' &&
           (byte < 0x7f || (byte > 0x7f && style == ESCAPE_HEX));
}

/* The number of bytes in front of the first one of sixteen that is not plain. */
static inline unsigned count_plain(const char *at, enum escape_style style)
{
    bytes16 bytes = bytes16_load(at);
    bytes16 wrong = (bytes16)((bytes < 0x20) | (bytes == '"') | (bytes == '\\'));
    return bytes16_first(
        wrong | (style == ESCAPE_HEX ? (bytes16)(bytes == 0x7f) : (bytes16)(bytes >= 0x7f)));
}

/* The first byte that is not plain, or the end. */
static inline size_t pass_plain(const char *bytes, size_t at, size_t size, enum escape_style style)
{
    const size_t most = sizeof(bytes16);
    for (unsigned plain; size - at >= most; at += most)
        if ((plain = count_plain(bytes + at, style)) < most)
            return at + plain;
    while (at < size && is_plain((unsigned char)bytes[at], style))
        at++;
    return at;
}

static void put_escape(struct text *text, unsigned char byte, enum escape_style style)
{
    switch (byte) {
    case '\n': text_bytes(text, "\\n", 2); break;
    case '\t': text_bytes(text, "\\t", 2); break;
    case '\r': text_bytes(text, "\\r", 2); break;
    case '"': text_bytes(text, "\\\"", 2); break;
    case '\\': text_bytes(text, "\\\\", 2); break;
    default: text_printf(text, style == ESCAPE_HEX ? "\\x%02x" : "\\%03o", byte);
    }
}

void escape_put(struct text *text, const char *bytes, size_t size, enum escape_style style)
{
    for (size_t at = 0; at < size; at++) {
        size_t plain = pass_plain(bytes, at, size, style);
        text_bytes(text, bytes + at, plain - at);
        at = plain;
        if (at < size)
            put_escape(text, (unsigned char)bytes[at], style);
    }
}
