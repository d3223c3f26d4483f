/* Errors in a text of protobuf, for the files of the cursor itself. All are false, and the cursor
 * stops there. */
#ifndef FRONTEND_EXCHANGE_TEXT_PROTO_ERROR_H
#define FRONTEND_EXCHANGE_TEXT_PROTO_ERROR_H

#include "frontend/exchange/text/proto_text.h"

/* Where [begin, end) of the text is; it ends with the line, and is never empty but at the end of
 * the text. */
struct span proto_span(const struct proto_text *proto, const char *begin, const char *end);

/* An error at [begin, end) of the text, and what to do about it, or NULL. */
bool proto_error(struct proto_text *proto, const char *begin, const char *end, const char *help,
                 const char *format, ...) __attribute__((format(printf, 5, 6), cold));

/* A byte that no token begins with. */
bool proto_error_byte(struct proto_text *proto, const char *at) __attribute__((cold));
/* Something else than `wanted` stands here. */
bool proto_error_expected(struct proto_text *proto, const char *at, const char *wanted)
    __attribute__((cold));
/* At the end of the text, in a message, at most as deep as `depth`. */
bool proto_error_open(struct proto_text *proto, uint32_t depth) __attribute__((cold));
/* A bracket that does not end the message that is open. */
bool proto_error_close(struct proto_text *proto, const char *at, uint32_t depth)
    __attribute__((cold));
/* The bracket of a message that is nested too deep. */
bool proto_error_deep(struct proto_text *proto, const char *bracket) __attribute__((cold));
/* A string that does not end: `at` is where it went wrong. */
bool proto_error_string(struct proto_text *proto, const char *start, const char *at)
    __attribute__((cold));
/* A number that goes on with what cannot belong to it. */
bool proto_error_number(struct proto_text *proto, const char *start, const char *at)
    __attribute__((cold));

#endif
