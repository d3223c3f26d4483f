/* Escapes in string literals of protobuf's text format: \a \b \f \n \r \t \v \? \' \" \, one
 * to three octal digits, \x and one or two hexadecimal ones, \u and four, \U and eight. */
#ifndef IR_SUPPORT_ESCAPES_H
#define IR_SUPPORT_ESCAPES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ----------------------------------------------------------------- sixteen bytes at a time ---- */

/* Of a comparison, a byte is all ones where it holds. */
typedef unsigned char bytes16 __attribute__((vector_size(16)));

static inline bytes16 bytes16_load(const char *at)
{
    bytes16 bytes;
    memcpy(&bytes, at, sizeof bytes);
    return bytes;
}

/* The index of the first byte that is not zero, or 16. */
static inline unsigned bytes16_first(bytes16 bytes)
{
    uint64_t half[2];
    memcpy(half, &bytes, sizeof half);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return half[0]   ? (unsigned)__builtin_ctzll(half[0]) >> 3
           : half[1] ? 8 + ((unsigned)__builtin_ctzll(half[1]) >> 3)
                     : 16;
#else
    return half[0]   ? (unsigned)__builtin_clzll(half[0]) >> 3
           : half[1] ? 8 + ((unsigned)__builtin_clzll(half[1]) >> 3)
                     : 16;
#endif
}

/* The first of two bytes in [at, end), or `end`. */
static inline const char *bytes16_either(const char *at, const char *end, char a, char b)
{
    while (end - at >= (ptrdiff_t)sizeof(bytes16)) {
        bytes16 bytes = bytes16_load(at);
        unsigned hit =
            bytes16_first((bytes16)((bytes == (unsigned char)a) | (bytes == (unsigned char)b)));
        at += hit;
        if (hit < sizeof bytes)
            return at;
    }
    while (at < end && *at != a && *at != b)
        at++;
    return at;
}

/* --------------------------------------------------------------------------------- escapes ---- */

/* Bytes that an escape takes at most behind its backslash: two code units, `uD800\uDC00`. */
enum { ESCAPE_MOST = 11 };
/* Bytes that it stands for at most. */
enum { ESCAPE_BYTES = 4 };

/* Any escape. */
const char *escape_take_any(const char *p, const char *end, char **out);

static inline int escape_is_octal(char c)
{
    return c >= '0' && c <= '7';
}

/* Decodes the escape behind whose backslash `p` is, and appends its bytes at `*out`: never more
 * than it takes in the text. Returns where it ends; NULL where no escape begins, or `end` is
 * within. */
static inline const char *escape_take(const char *p, const char *end, char **out)
{
    /* What bytes are mostly written as. */
    if (p < end && *p == 'n') {
        *(*out)++ = '\n';
        return p + 1;
    }
    if (p < end && (*p == '"' || *p == '\\')) {
        *(*out)++ = *p;
        return p + 1;
    }
    if (end - p < 3 || !escape_is_octal(p[0]) || !escape_is_octal(p[1]) || !escape_is_octal(p[2]))
        return escape_take_any(p, end, out);
    *(*out)++ = (char)((p[0] - '0') << 6 | (p[1] - '0') << 3 | (p[2] - '0'));
    return p + 3;
}

/* How bytes are written that are neither printable ASCII nor have a letter as their escape. */
enum escape_style {
    ESCAPE_HEX,  /* \xHH; but those beyond ASCII, as they are */
    ESCAPE_OCTAL /* \OOO, those beyond ASCII, too */
};

struct text;

/* Appends what stands for the bytes between double quotes. */
void escape_put(struct text *text, const char *bytes, size_t size, enum escape_style style);

#endif
