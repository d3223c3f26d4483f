/* Protobuf's text format, one field a line. */
#ifndef FRONTEND_EXCHANGE_WRITERS_PROTO_OUT_H
#define FRONTEND_EXCHANGE_WRITERS_PROTO_OUT_H

#include "ir/base/text.h"

struct proto_out {
    struct text *text;
    unsigned depth;
};

/* A message, up to proto_close. */
void proto_open(struct proto_out *out, const char *field);
void proto_close(struct proto_out *out);

/* Fields of each kind; the bytes of a string are escaped. */
void proto_put_string(struct proto_out *out, const char *field, const char *bytes, size_t size);
void proto_put_text(struct proto_out *out, const char *field, const char *text);
void proto_put_integer(struct proto_out *out, const char *field, int64_t number);
void proto_put_float(struct proto_out *out, const char *field, double number);
void proto_put_word(struct proto_out *out, const char *field, const char *word);

#endif
