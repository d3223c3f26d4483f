#include "frontend/exchange/writers/proto_out.h"
#include "ir/base/escapes.h"

#include <math.h>

static void begin_line(struct proto_out *out, const char *field)
{
    for (unsigned i = 0; i < out->depth; i++)
        text_bytes(out->text, "  ", 2);
    text_string(out->text, field);
}

void proto_open(struct proto_out *out, const char *field)
{
    begin_line(out, field);
    text_bytes(out->text, " {\n", 3);
    out->depth++;
}

void proto_close(struct proto_out *out)
{
    out->depth--;
    begin_line(out, "}\n");
}

/* Bytes that are not ASCII stay as they are only in fields that are UTF-8: in others libprotobuf
 * escapes them, and takes both. */
void proto_put_string(struct proto_out *out, const char *field, const char *bytes, size_t size)
{
    begin_line(out, field);
    text_bytes(out->text, ": \"", 3);
    escape_put(out->text, bytes, size, ESCAPE_OCTAL);
    text_bytes(out->text, "\"\n", 2);
}

void proto_put_text(struct proto_out *out, const char *field, const char *text)
{
    proto_put_string(out, field, text, strlen(text));
}

void proto_put_integer(struct proto_out *out, const char *field, int64_t number)
{
    begin_line(out, field);
    text_bytes(out->text, ": ", 2);
    text_signed(out->text, number);
    text_char(out->text, '\n');
}

void proto_put_word(struct proto_out *out, const char *field, const char *word)
{
    begin_line(out, field);
    text_bytes(out->text, ": ", 2);
    text_string(out->text, word);
    text_char(out->text, '\n');
}

void proto_put_float(struct proto_out *out, const char *field, double number)
{
    if (isnan(number)) {
        proto_put_word(out, field, "nan");
        return;
    }
    begin_line(out, field);
    text_bytes(out->text, ": ", 2);
    text_double(out->text, number);
    text_char(out->text, '\n');
}
