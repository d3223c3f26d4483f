/* Text under construction. */
#ifndef IR_SUPPORT_TEXT_H
#define IR_SUPPORT_TEXT_H

#include "ir/support/vec.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct text {
    char *at;
    size_t size, capacity;
};

void text_grow(struct text *text, size_t extra);
void text_vprintf(struct text *text, const char *format, va_list args);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_free(struct text *text);

static inline void text_bytes(struct text *text, const char *bytes, size_t size)
{
    if (text->capacity - text->size <= size) /* after this, at is not NULL even for no bytes */
        text_grow(text, size);
    memcpy(text->at + text->size, bytes, size);
    text->size += size;
}

/* What is in another one, which may hold nothing at all. */
static inline void text_append(struct text *text, const struct text *other)
{
    if (other->size)
        text_bytes(text, other->at, other->size);
}

static inline void text_string(struct text *text, const char *string)
{
    text_bytes(text, string, strlen(string));
}

static inline void text_char(struct text *text, char c)
{
    text_bytes(text, &c, 1);
}

void text_unsigned(struct text *text, uint64_t number);
void text_signed(struct text *text, int64_t number);
/* The shortest decimal form that reads back as the same number, never like an integer. */
void text_double(struct text *text, double number);

/* Bytes as UTF-8. Names and paths are bytes; formats of others want UTF-8. */

/* ---- UTF-8: names and paths are bytes; formats of others want UTF-8 ---- */

/* Appends bytes; each that is not part of a well-formed code point becomes U+FFFD, the replacement
 * character. */
void text_utf8(struct text *text, const char *bytes, size_t size);

/* How many of the bytes are well-formed code points, up to the first that is not part of one. */
size_t utf8_well_formed(const char *bytes, size_t size);

/* Whether a byte of UTF-8 is not the first one of its code point. */
static inline bool continues_code_point(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* How many of `size` bytes are shown where there is room for `room`: those of whole code points.
 * Bytes that are no UTF-8 are cut anywhere. */
size_t utf8_prefix(const char *bytes, size_t size, size_t room);

/* Writes an error, one line of text, to the caller's buffer. Always false, so that a function can
 * return it. */
__attribute__((format(printf, 3, 4))) static inline bool message_fail(char *error, size_t size,
                                                                      const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error, size, format, args);
    va_end(args);
    return false;
}

#endif
