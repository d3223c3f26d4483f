/* The tokens of protobuf's text, for the cursor. */
#ifndef FRONTEND_EXCHANGE_TEXT_PROTO_SCAN_H
#define FRONTEND_EXCHANGE_TEXT_PROTO_SCAN_H

#include "frontend/exchange/text/proto_text.h"

/* What stands where a value may stand. */
enum proto_value {
    VALUE_FAILED,
    VALUE_NUMBER,
    VALUE_WORD,
    VALUE_PLAIN,   /* a string without escapes */
    VALUE_ESCAPED, /* a string with escapes */
    VALUE_MINUS,
    VALUE_OPEN,
    VALUE_LIST
};

/* What stands where a field may begin. */
enum proto_head { HEAD_FAILED, HEAD_NAME, HEAD_BRACKETED, HEAD_CLOSE, HEAD_SEPARATOR, HEAD_END };

/* The token at `start`; proto->at goes behind it. What is none is an error. */
enum proto_value proto_scan_value(struct proto_text *proto, const char *start);
enum proto_head proto_scan_head(struct proto_text *proto, const char *start);
/* Passes over the rest of the message that was just entered, which is left. False at an error. */
bool proto_scan_message(struct proto_text *proto);

#endif
