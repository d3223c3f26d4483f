/* Escapes in string literals of protobuf's text format: \a \b \f \n \r \t \v \? \' \" \, one
 * to three octal digits, \x and one or two hexadecimal ones, \u and four, \U and eight. */
#ifndef IR_BASE_ESCAPES_H
#define IR_BASE_ESCAPES_H

#include <stddef.h>

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
