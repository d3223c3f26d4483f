/* Bytes as UTF-8. Names and paths are bytes; formats of others want UTF-8. */
#ifndef IR_BASE_UTF8_H
#define IR_BASE_UTF8_H

#include "ir/base/text.h"

/* Appends bytes; each that is not part of a well-formed code point becomes U+FFFD, the replacement
 * character. */
void text_utf8(struct text *text, const char *bytes, size_t size);

#endif
