#include "frontend/exchange/text/proto_error.h"

#include <stdarg.h>

struct span proto_span(const struct proto_text *proto, const char *begin, const char *end)
{
    if (proto->inner)
        return proto->within;
    const char *line = memchr(begin, '\n', (size_t)(end - begin));
    if (line && line > begin)
        end = line;
    return (struct span){(uint32_t)(begin - proto->text), (uint32_t)(end - proto->text)};
}

/* The place in a text that came out of a string, whose lines the source does not have. */
static void note_place(const struct proto_text *proto, const char *at)
{
    uint32_t line = 1;
    const char *begin = proto->text;
    for (const char *p; (p = memchr(begin, '\n', (size_t)(at - begin))); begin = p + 1)
        line++;
    size_t column = 1;
    for (; begin < at; begin++)
        column += !continues_code_point(*begin);
    diag_help(proto->diags, "in the text of this string: line %u, column %zu", line, column);
}

bool proto_error(struct proto_text *proto, const char *begin, const char *end, const char *help,
                 const char *format, ...)
{
    proto->failed = true;
    if (!proto->diags)
        return false;
    va_list args;
    va_start(args, format);
    bool kept =
        diag_vat(proto->diags, DIAG_foreign_syntax, proto_span(proto, begin, end), format, args);
    va_end(args);
    if (kept && proto->inner)
        note_place(proto, begin);
    if (kept && help)
        diag_help(proto->diags, "%s", help);
    return false;
}

void proto_fail(struct proto_text *proto, struct span span, const char *format, ...)
{
    proto->failed = true;
    if (!proto->diags)
        return;
    va_list args;
    va_start(args, format);
    diag_vat(proto->diags, DIAG_foreign_syntax, proto->inner ? proto->within : span, format, args);
    va_end(args);
}

bool proto_error_byte(struct proto_text *proto, const char *at)
{
    unsigned char byte = (unsigned char)*at;
    if (byte > 0x20 && byte < 0x7f)
        return proto_error(proto, at, at + 1, NULL, "unexpected character '%c'", byte);
    return proto_error(proto, at, at + 1,
                       byte >= 0x80 ? "characters beyond ASCII may stand in strings only"
                                    : "a binary message must be made text first, for example by "
                                      "protoc --decode",
                       "unexpected byte 0x%02x", byte);
}

bool proto_error_expected(struct proto_text *proto, const char *at, const char *wanted)
{
    unsigned char byte = (unsigned char)*at;
    if (at == proto->end)
        return proto_error(proto, at, at, NULL, "the text ends where %s is expected", wanted);
    if (byte <= 0x20 || byte >= 0x7f)
        return proto_error_byte(proto, at);
    return proto_error(proto, at, at + 1, NULL, "expected %s here, not '%c'", wanted, byte);
}

bool proto_error_open(struct proto_text *proto, uint32_t depth)
{
    const struct proto_level *level = &proto->levels[depth];
    return proto_error(proto, level->begin, level->begin + 1, "is the rest of the file missing?",
                       "this message is not ended by '%c'", level->close);
}

bool proto_error_close(struct proto_text *proto, const char *at, uint32_t depth)
{
    if (depth == 0)
        return proto_error(proto, at, at + 1, NULL, "no message is open that this '%c' ends", *at);
    const struct proto_level *level = &proto->levels[depth];
    return proto_error(proto, at, at + 1, NULL,
                       "expected '%c' at the end of this message, not '%c'", level->close, *at);
}

bool proto_error_deep(struct proto_text *proto, const char *bracket)
{
    return proto_error(proto, bracket, bracket + 1, NULL, "messages are nested more than %d deep",
                       PROTO_DEPTH);
}

bool proto_error_string(struct proto_text *proto, const char *start, const char *at)
{
    static const char escapes[] =
        "escapes are \\a \\b \\f \\n \\r \\t \\v \\? \\' \\\" \\\\, one to three "
        "octal digits, \\xHH, \\uHHHH and \\UHHHHHHHH";
    if (*at == '\\' && at[1] != '\n' && at + 1 < proto->end)
        return proto_error(proto, at, at + 2, escapes, "this escape is none of protobuf's");
    if (*at == '\0' && at < proto->end)
        return proto_error_byte(proto, at);
    return proto_error(proto, start, at, "a line break in a string is written \\n",
                       "this string does not end on its line");
}

bool proto_error_number(struct proto_text *proto, const char *start, const char *at)
{
    return proto_error(proto, start, at,
                       "numbers are decimal, octal behind a 0, hexadecimal behind 0x, or floats",
                       "this number is malformed");
}
