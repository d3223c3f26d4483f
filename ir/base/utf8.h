/* Bytes as UTF-8. Names and paths are bytes; formats of others want UTF-8. */
#ifndef IR_BASE_UTF8_H
#define IR_BASE_UTF8_H

#include "ir/base/text.h"

#include <stdbool.h>

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

#endif
