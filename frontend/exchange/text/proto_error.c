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
