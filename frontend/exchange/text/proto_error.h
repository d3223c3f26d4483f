/* Errors in a text of protobuf, for the files of the cursor itself. */
#ifndef FRONTEND_EXCHANGE_TEXT_PROTO_ERROR_H
#define FRONTEND_EXCHANGE_TEXT_PROTO_ERROR_H

#include "frontend/exchange/text/proto_text.h"

/* Where [begin, end) of the text is; it ends with the line, and is never empty but at the end of
 * the text. */
struct span proto_span(const struct proto_text *proto, const char *begin, const char *end);

/* An error at [begin, end) of the text, and what to do about it, or NULL. Always false. The cursor
 * stops there. */
bool proto_error(struct proto_text *proto, const char *begin, const char *end, const char *help,
                 const char *format, ...) __attribute__((format(printf, 5, 6), cold));

#endif
