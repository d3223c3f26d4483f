/* Python text: the scanner, statements as items, and values. -*- c -*- */
#define _GNU_SOURCE /* memmem */
#include "frontend/import/text/python_text.h"
#include "frontend/import/text/decimal.h"
#include "ir/support/escapes.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>

enum { MAX_DEPTH = 256 };

void python_init(struct python_text *python, const struct source *source, struct diags *diags)
{
    *python = (struct python_text){.text = source->text,
                                   .at = source->text,
                                   .end = source->text + source->size,
                                   .diags = diags,
                                   .kind = PYTHON_NEWLINE,
                                   .start = source->text};
}

struct span python_span(const struct python_text *python)
{
    uint32_t begin = (uint32_t)(python->start - python->text);
    const char *line = memchr(python->start, '\n', python->size);
    size_t size = line ? (size_t)(line - python->start) : python->size;
    return (struct span){begin, begin + (uint32_t)size};
}

void python_fail(struct python_text *python, struct span span, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!python->failed)
        diag_vat(python->diags, DIAG_foreign_syntax, span, format, args);
    va_end(args);
    python->failed = true;
    python->kind = PYTHON_ERROR;
}

static enum python_kind fail(struct python_text *python, const char *text)
{
    python->size = python->start < python->end;
    python_fail(python, python_span(python), "%s", text);
    return PYTHON_ERROR;
}

/* The token ends at `at`. */
static inline enum python_kind take(struct python_text *python, const char *at,
                                    enum python_kind kind)
{
    python->at = at;
    python->size = (size_t)(at - python->start);
    return python->kind = kind;
}

/* The first byte that could end a string or changes what the next one says; or one of the last
 * sixteen. */
static inline const char *find_string_end(const char *at, const char *end, char quote)
{
    while (end - at >= (ptrdiff_t)sizeof(bytes16)) {
        bytes16 bytes = bytes16_load(at);
        unsigned hit = bytes16_first(
            (bytes16)((bytes == (unsigned char)quote) | (bytes == '\\') | (bytes == '\n')));
        at += hit;
        if (hit < sizeof bytes)
            break;
    }
    return at;
}

/* The end of a string whose opening quote has been read. A `"` that nothing follows that could
 * stand behind a string is a part of it, as are the ends of lines: not all is escaped. */
static enum python_kind scan_string(struct python_text *python, const char *at)
{
    char quote = at[-1];
    bool lax = quote == '"';
    for (; (at = find_string_end(at, python->end, quote)) < python->end; at++) {
        if (*at == '\\' && at + 1 < python->end)
            at++;
        else if (*at == '\n' && !lax)
            break;
        else if (*at == quote) {
            /* What follows a quote lets it be the closing one, or not. */
            const char *next = at + 1;
            while (next < python->end && *next == ' ')
                next++;
            if (!lax || next == python->end || strchr(",)]}:\r\n#", *next))
                return take(python, at + 1, PYTHON_STRING);
        }
    }
    return fail(python, "this string does not end");
}

static enum python_kind scan_long_string(struct python_text *python, const char *end)
{
    end = memmem(end, (size_t)(python->end - end), "\"\"\"", 3);
    if (!end)
        return fail(python, "this string does not end");
    return take(python, end + 3, PYTHON_STRING);
}

static enum python_kind scan_bracket(struct python_text *python)
{
    char c = *python->start;
    bool opens = c == '(' || c == '[' || c == '{';
    if (!opens && python->depth == 0)
        return fail(python, "nothing is open that this could close");
    if (opens && python->depth == MAX_DEPTH)
        return fail(python, "brackets are nested too deep");
    python->depth = opens ? python->depth + 1 : python->depth - 1;
    return take(python, python->start + 1, PYTHON_CHAR);
}

/* Most tokens are one of a few characters, or a name that none behind it makes something else. */
enum { CHAR_SINGLE = 1, CHAR_BRACKET = 2, CHAR_FIRST = 4, CHAR_OTHER = 8, CHAR_JOINS = 16 };

static const unsigned char char_class[256] = {
    [','] = CHAR_SINGLE,
    ['='] = CHAR_SINGLE,
    ['('] = CHAR_BRACKET,
    [')'] = CHAR_BRACKET,
    ['['] = CHAR_BRACKET,
    [']'] = CHAR_BRACKET,
    ['a' ... 'z'] = CHAR_FIRST | CHAR_OTHER,
    ['A' ... 'Z'] = CHAR_FIRST | CHAR_OTHER,
    ['_'] = CHAR_FIRST | CHAR_OTHER,
    ['0' ... '9'] = CHAR_OTHER,
    ['.'] = CHAR_JOINS,
    ['-'] = CHAR_JOINS,
    ['"'] = CHAR_JOINS,
    ['\''] = CHAR_JOINS,
    [0x80 ... 0xff] = CHAR_JOINS,
};

static inline unsigned class_of(const char *at)
{
    return char_class[(unsigned char)*at];
}

static enum python_kind scan(struct python_text *python, const char *at);

enum python_kind python_next(struct python_text *python)
{
    if (python->failed)
        return PYTHON_ERROR;
    const char *at = python->at;
    while (*at == ' ')
        at++;
    python->start = at;
    unsigned class = class_of(at);
    if (class & CHAR_SINGLE)
        return take(python, at + 1, PYTHON_CHAR);
    if (class & CHAR_BRACKET)
        return scan_bracket(python);
    if (class & CHAR_FIRST) {
        const char *end = at;
        while (class_of(end) & CHAR_OTHER)
            end++;
        if (!(class_of(end) & CHAR_JOINS))
            return take(python, end, PYTHON_NAME);
    }
    return scan(python, at);
}

/* Any token. */
static enum python_kind scan(struct python_text *python, const char *at)
{
    const char *marker;
    for (;;) {
        python->start = at;
        /*!re2c
            re2c:define:YYCTYPE = "unsigned char";
            re2c:define:YYCURSOR = at;
            re2c:define:YYMARKER = marker;
            re2c:yyfill:enable = 0;

            first  = [A-Za-z_\x80-\xff];
            other  = [A-Za-z0-9_\x80-\xff];
            name   = first (other | [.-] other)*;
            digits = [0-9] [0-9_]*;
            float  = (digits "."? digits? | "." digits) ([eE] [+-]? digits)?;
            number = [+-]? (float | "0" [xX] [0-9A-Fa-f_]+) "j"? | [+-] ("inf" | "nan");
            prefix = [bBrRuUfF]{1,2};

            [ \t\r\f]+ | "\\" "\r"? "\n" { continue; }
            "#"                          { at = memchr(at, '\n', (size_t)(python->end - at));
                                           at = at ? at : python->end;
                                           continue; }
            "\n"                         { if (python->depth > 0)
                                               continue;
                                           return take(python, at, PYTHON_NEWLINE); }
            name | "..."                 { return take(python, at, PYTHON_NAME); }
            number                       { return take(python, at, PYTHON_NUMBER); }
            prefix? "\"\"\""             { return scan_long_string(python, at); }
            prefix? ["']                 { return scan_string(python, at); }
            "<" [^<>\n\x00]* ">"         { return take(python, at, PYTHON_OBJECT); }
            [()[\]{}]                    { return scan_bracket(python); }
            "\x00"                       { if (python->start < python->end)
                                               return fail(python, "this byte is no text");
                                           if (python->depth > 0)
                                               return fail(python,
                                                           "the text ends within brackets");
                                           return take(python, python->end, PYTHON_END); }
            *                            { return take(python, at, PYTHON_CHAR); }
        */
    }
}

enum python_kind python_raw(struct python_text *python, const char *ends)
{
    const char *at = python->start = python->at;
    while (at < python->end && *at && !strchr(ends, *at) && *at != '\n')
        at++;
    return take(python, at, PYTHON_NAME);
}

void python_skip_line(struct python_text *python)
{
    while (python->kind != PYTHON_NEWLINE && python->kind != PYTHON_END &&
           python->kind != PYTHON_ERROR)
        python_next(python);
}

/* ------------------------------------------------------------------------- items ---- */

static uint32_t add_item(struct python_items *items, enum py_sort sort)
{
    const struct python_text *python = &items->python;
    uint32_t index = items->list.count;
    struct py_item item = {.sort = (uint8_t)sort,
                           .at = (uint32_t)(python->start - python->text),
                           .size = (uint32_t)python->size,
                           .end = (uint32_t)(python->at - python->text),
                           .next = index + 1};
    vec_push(&items->list, item);
    return index;
}

/* All up to the token read last is in the item. */
static void close_item(struct python_items *items, uint32_t index)
{
    items->list.at[index].next = items->list.count;
    items->list.at[index].end = (uint32_t)(items->python.at - items->python.text);
}

static bool expected(struct python_items *items, const char *what)
{
    python_fail(&items->python, python_span(&items->python), "expected %s here", what);
    return false;
}

/* Elements up to the closing bracket, with or without a comma or colon between them. The scanner
 * limits the depth of brackets, and with it that of the calls. */
static bool read_bracket(struct python_items *items, enum py_sort sort, char close)
{
    struct python_text *python = &items->python;
    uint32_t index = add_item(items, sort);
    python_next(python);
    while (!python_is_char(python, close)) {
        if (!python_read_value(items))
            return false;
        if (python_is_char(python, ',') || (close == '}' && python_is_char(python, ':')))
            python_next(python);
    }
    close_item(items, index);
    python_next(python);
    return true;
}

/* One argument; keywords are names in front of a `=`. */
static bool read_argument(struct python_items *items)
{
    uint32_t index = items->list.count;
    if (!python_read_value(items))
        return false;
    if (!python_is_char(&items->python, '='))
        return true;
    if (items->list.at[index].sort != PY_NAME)
        return expected(items, "a name before `=`");
    items->list.at[index].sort = PY_KEYWORD;
    python_next(&items->python);
    if (!python_read_value(items))
        return false;
    close_item(items, index);
    return true;
}

/* A name, or a call: its arguments follow the name and `(`. */
static bool read_name(struct python_items *items)
{
    struct python_text *python = &items->python;
    uint32_t index = add_item(items, PY_NAME);
    python_next(python);
    if (!python_is_char(python, '('))
        return true;
    items->list.at[index].sort = PY_CALL;
    if (py_is(items, &items->list.at[index], "Tensor")) {
        python_raw(python, ",)");
        add_item(items, PY_NAME);
        python_next(python);
        if (python_is_char(python, ','))
            python_next(python);
    } else {
        python_next(python);
    }
    while (!python_is_char(python, ')')) {
        bool empty = python_is_char(python, ','); /* a value that has no form is printed as none */
        if (!empty && !read_argument(items))
            return false;
        if (python_is_char(python, ','))
            python_next(python);
        else if (!python_is_char(python, ')'))
            return expected(items, "`,` or `)`");
    }
    close_item(items, index);
    python_next(python);
    return true;
}

bool python_read_value(struct python_items *items)
{
    char c = *items->python.start;
    switch (items->python.kind) {
    case PYTHON_NAME: return read_name(items);
    case PYTHON_NUMBER: add_item(items, PY_NUMBER); break;
    case PYTHON_STRING: add_item(items, PY_STRING); break;
    case PYTHON_OBJECT: add_item(items, PY_OBJECT); break;
    case PYTHON_CHAR:
        if (c == '[' || c == '(')
            return read_bracket(items, PY_LIST, c == '[' ? ']' : ')');
        if (c == '{')
            return read_bracket(items, PY_DICT, '}');
        return expected(items, "a value");
    default: return expected(items, "a value");
    }
    python_next(&items->python);
    return true;
}

/* ------------------------------------------------------------------------ values ---- */

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                        : c >= 'A' && c <= 'F'   ? c - 'A' + 10
                                                                 : 16;
}

/* Up to `most` digits of a base at `*at`, of which there is at least one. */
static uint32_t take_code(const char **at, const char *end, int base, int most)
{
    uint32_t code = 0;
    for (; most-- && *at < end && digit_of(**at) < base; ++*at)
        code = code * (uint32_t)base + (uint32_t)digit_of(**at);
    return code;
}

static void put_code_point(struct text *out, uint32_t code)
{
    static const unsigned char heads[] = {0, 0xc0, 0xe0, 0xf0};
    unsigned more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    text_char(out, (char)(heads[more] | code >> (6 * more)));
    while (more-- > 0)
        text_char(out, (char)(0x80 | (code >> (6 * more) & 0x3f)));
}

/* What stands behind a backslash at `*at`, which is before the end. */
static void put_escape(struct text *out, const char **at, const char *end, bool bytes)
{
    static const char letters[] = "abfnrtv\\'\"";
    static const char meant[] = "\a\b\f\n\r\t\v\\'\"";
    char c = *(*at)++;
    const char *letter = c ? strchr(letters, c) : NULL;
    bool hex = *at < end && digit_of(**at) < 16;
    if (letter) {
        text_char(out, meant[letter - letters]);
    } else if (digit_of(c) < 8) {
        --*at;
        put_code_point(out, take_code(at, end, 8, 3));
    } else if (c == 'x' && hex) {
        uint32_t code = take_code(at, end, 16, 2);
        if (bytes)
            text_char(out, (char)code);
        else
            put_code_point(out, code);
    } else if ((c == 'u' || c == 'U') && hex && !bytes) {
        put_code_point(out, take_code(at, end, 16, c == 'u' ? 4 : 8) & 0x1fffff);
    } else if (c != '\n') {
        text_char(out, '\\');
        text_char(out, c);
    }
}

void python_unquote(struct text *out, const char *literal, size_t size)
{
    const char *at = literal, *end = literal + size - 1;
    bool bytes = false, raw = false;
    for (; *at != '"' && *at != '\''; at++) {
        bytes |= (*at | 0x20) == 'b';
        raw |= (*at | 0x20) == 'r';
    }
    bool triple = end - at >= 5 && strncmp(at, "\"\"\"", 3) == 0;
    at += triple ? 3 : 1;
    end -= triple ? 2 : 0;
    while (at < end) {
        const char *escape = raw ? NULL : memchr(at, '\\', (size_t)(end - at));
        const char *plain = escape && escape + 1 < end ? escape : end;
        text_bytes(out, at, (size_t)(plain - at));
        at = plain;
        if (at < end) {
            at++;
            put_escape(out, &at, end, bytes);
        }
    }
}

bool python_integer(const char *text, size_t size, int64_t *value)
{
    char copy[96], *end;
    size_t n = 0;
    if (decimal_integer(text, text + size, value))
        return true;
    for (size_t i = 0; i < size && n + 1 < sizeof copy; i++)
        if (text[i] != '_')
            copy[n++] = text[i];
    copy[n] = '\0';
    const char *digits = copy + (*copy == '-' || *copy == '+');
    int base = digits[0] == '0' && (digits[1] | 0x20) == 'x' ? 16 : 10;
    errno = 0;
    *value = strtoll(copy, &end, base);
    if (*end == '\0' && errno == ERANGE && *copy != '-') {
        errno = 0;
        *value = (int64_t)strtoull(copy, &end, base);
    }
    return end != copy && *end == '\0' && errno == 0 && n + 1 < sizeof copy;
}

