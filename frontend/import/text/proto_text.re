/* Protobuf's text format: the scanner, the cursor over messages, and values. -*- c -*-
 *
 * What is between tokens, and strings, are the larger part of most texts: they are passed many
 * bytes at a time. Of messages that are not entered, nothing is scanned but brackets, strings
 * and comments. A NUL follows the end of the text. The time is linear, the memory that of the
 * levels. */
#include "frontend/import/text/proto_text.h"
#include "frontend/import/text/decimal.h"
#include "ir/support/escapes.h"

#include <math.h>
#include <stdarg.h>
#include <strings.h>

/*!re2c
    re2c:define:YYCTYPE = "unsigned char";
    re2c:define:YYCURSOR = at;
    re2c:define:YYMARKER = marker;
    re2c:yyfill:enable = 0;

    blank   = [ \t\r\n\v\f];
    comment = "#" [^\n\x00]*;
    space   = (blank | comment "\n")*;
    word    = [A-Za-z_][A-Za-z0-9_]*;
    digits  = [0-9]+;
    hex     = [0-9A-Fa-f];
    other   = [^];
*/

/* ---- Errors: all are false, and the cursor stops there ---- */

/* Where [begin, end) of the text is; it ends with the line, and is never empty but at the end of
 * the text. */
static struct span proto_span(const struct proto_text *proto, const char *begin, const char *end)
{
    if (proto->inner)
        return proto->within;
    const char *line = memchr(begin, '\n', (size_t)(end - begin));
    if (line && line > begin)
        end = line;
    return (struct span){(uint32_t)(begin - proto->text), (uint32_t)(end - proto->text)};
}

/* An error at [begin, end) of the text, and what to do about it, or NULL. In a text that came out
 * of a string, whose lines the source does not have, the place there is noted. */
static bool __attribute__((format(printf, 5, 6), cold))
proto_error(struct proto_text *proto, const char *begin, const char *end, const char *help,
            const char *format, ...)
{
    va_list args;
    proto->failed = true;
    if (!proto->diags)
        return false;
    va_start(args, format);
    bool kept =
        diag_vat(proto->diags, DIAG_foreign_syntax, proto_span(proto, begin, end), format, args);
    va_end(args);
    if (kept && proto->inner) {
        uint32_t lines = 1;
        size_t column = 1;
        const char *line = proto->text;
        for (const char *p; (p = memchr(line, '\n', (size_t)(begin - line))); line = p + 1)
            lines++;
        for (; line < begin; line++)
            column += !continues_code_point(*line);
        diag_help(proto->diags, "in the text of this string: line %u, column %zu", lines, column);
    }
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

/* A byte that no token begins with. */
static bool proto_error_byte(struct proto_text *proto, const char *at)
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

/* Something else than `wanted` is here. */
static bool proto_error_expected(struct proto_text *proto, const char *at, const char *wanted)
{
    unsigned char byte = (unsigned char)*at;
    if (at == proto->end)
        return proto_error(proto, at, at, NULL, "the text ends where %s is expected", wanted);
    if (byte <= 0x20 || byte >= 0x7f)
        return proto_error_byte(proto, at);
    return proto_error(proto, at, at + 1, NULL, "expected %s here, not '%c'", wanted, byte);
}

/* At the end of the text, in a message. */
static bool proto_error_open(struct proto_text *proto, uint32_t depth)
{
    const struct proto_level *level = &proto->levels[depth];
    return proto_error(proto, level->begin, level->begin + 1, "is the rest of the file missing?",
                       "this message is not ended by '%c'", level->close);
}

/* A bracket that does not end the message that is open. */
static bool proto_error_close(struct proto_text *proto, const char *at, uint32_t depth)
{
    if (depth == 0)
        return proto_error(proto, at, at + 1, NULL, "no message is open that this '%c' ends", *at);
    const struct proto_level *level = &proto->levels[depth];
    return proto_error(proto, at, at + 1, NULL,
                       "expected '%c' at the end of this message, not '%c'", level->close, *at);
}

/* The bracket of a message that is nested too deep. */
static bool proto_error_deep(struct proto_text *proto, const char *bracket)
{
    return proto_error(proto, bracket, bracket + 1, NULL, "messages are nested more than %d deep",
                       PROTO_DEPTH);
}

/* A string that does not end: `at` is where it went wrong. */
static bool proto_error_string(struct proto_text *proto, const char *start, const char *at)
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

/* A number that goes on with what cannot belong to it. */
static bool proto_error_number(struct proto_text *proto, const char *start, const char *at)
{
    return proto_error(proto, start, at,
                       "numbers are decimal, octal behind a 0, hexadecimal behind 0x, or floats",
                       "this number is malformed");
}

/* ---- What is between tokens, and strings ---- */

/* The first byte that ends a string or needs a closer look, or one of the last sixteen. */
static inline const char *find_string_end(const struct proto_text *proto, const char *at,
                                          char quote)
{
    while (proto->end - at >= (ptrdiff_t)sizeof(bytes16)) {
        bytes16 bytes = bytes16_load(at);
        unsigned hit = bytes16_first((bytes16)((bytes == (unsigned char)quote) | (bytes == '\\') |
                                               (bytes == '\n') | (bytes == '\0')));
        at += hit;
        if (hit < sizeof bytes)
            break;
    }
    return at;
}

/* The first byte that says something to those who pass over a message (or '|' or '='): a bracket, a
 * quote, a comment, or what may not be there. Or one of the last sixteen. */
static inline const char *find_mark(const struct proto_text *proto, const char *at)
{
    typedef signed char signed16 __attribute__((vector_size(16)));
    while (proto->end - at >= (ptrdiff_t)sizeof(bytes16)) {
        bytes16 bytes = bytes16_load(at);
        bytes16 brackets = (bytes16)(bytes - '{' <= 2) | (bytes16)(bytes - '<' <= 2);
        bytes16 quotes = (bytes16)(bytes - '"' <= 1) | (bytes16)(bytes == '\'');
        bytes16 wrong = (bytes16)(((signed16)bytes < ' ') & (bytes != '\n'));
        unsigned hit = bytes16_first(brackets | quotes | wrong);
        at += hit;
        if (hit < sizeof bytes)
            break;
    }
    return at;
}

/* After spaces, eight at a time: indentation is the larger part of most texts. */
static inline const char *skip_indent(const char *at, const char *end)
{
    static const uint64_t spaces = UINT64_C(0x2020202020202020);
    uint64_t eight;
    while (end - at >= (ptrdiff_t)sizeof eight) {
        memcpy(&eight, at, sizeof eight);
        eight ^= spaces;
        if (eight != 0)
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
            return at + (__builtin_ctzll(eight) >> 3);
#else
            return at + (__builtin_clzll(eight) >> 3);
#endif
        at += sizeof eight;
    }
    while (*at == ' ')
        at++;
    return at;
}

/* A line break and what indents the next line, and all else that may follow. */
static inline const char *skip_blanks(const char *at, const char *end)
{
    for (;;) {
        at += *at == '\n';
        if (*at == ' ')
            at = skip_indent(at, end);
        if ((unsigned char)*at > '#')
            return at;
        if (*at == '#')
            while (*at != '\n' && *at != '\0')
                at++;
        else if (*at >= '\t' && *at <= '\r')
            at++;
        else
            return at;
    }
}

/* After blanks and comments. */
static inline const char *skip_space(const char *at, const char *end)
{
    if ((unsigned char)*at > '#')
        return at;
    if (*at == ' ' && (unsigned char)at[1] > '#')
        return at + 1;
    return skip_blanks(at, end);
}

/* From the first backslash of a string on. */
static __attribute__((noinline)) const char *skip_escapes(const struct proto_text *proto,
                                                          const char *at, char quote)
{
    while (*at == '\\' && at[1] != '\0' && strchr("abfnrtv?\"'\\01234567", at[1]))
        at = find_string_end(proto, at + 2, quote);
    return *at == quote ? at + 1 : NULL;
}

/* After a string at `start`, if it is one that is not at the end of the text and has no other
 * escapes than those of one letter or digit; or NULL. */
static inline const char *skip_string(const struct proto_text *proto, const char *start,
                                      bool *plain)
{
    *plain = true;
    if (*start != '"' && *start != '\'')
        return NULL;
    const char *end = find_string_end(proto, start + 1, *start);
    if (*end == *start)
        return end + 1;
    *plain = false;
    return *end == '\\' ? skip_escapes(proto, end, *start) : NULL;
}

/* ---- Tokens ---- */

/* What may be a value. */
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

/* What may begin a field. */
enum proto_head { HEAD_FAILED, HEAD_NAME, HEAD_BRACKETED, HEAD_CLOSE, HEAD_SEPARATOR, HEAD_END };

/* The token at `start`; proto->at goes after it. What is none is an error. */
static enum proto_value scan_value(struct proto_text *proto, const char *start)
{
    const char *at = start, *marker;
#define TAKE(value) return proto->at = at, value
    /*!re2c
    escape  = "\\" ([abfnrtv?'"\\] | [0-7] | [xX] hex | "u" hex{4} | "U00" ("0" hex | "10") hex{4});
    plain   = ["] [^"\\\n\x00]* ["] | ['] [^'\\\n\x00]* ['];
    escaped = ["] ([^"\\\n\x00] | escape)* ["] | ['] ([^'\\\n\x00] | escape)* ['];
    lost    = ["] ([^"\\\n\x00] | escape)* | ['] ([^'\\\n\x00] | escape)*;

    exponent = [eE] [-+]? digits;
    decimal  = (("0" | [1-9][0-9]*) ("." [0-9]*)? | "." digits) exponent? [fF]?;
    octal    = "0" [0-7]+;
    hexadecimal = "0" [xX] hex+;
    number   = decimal | octal | hexadecimal;

    "-"? number { TAKE(VALUE_NUMBER); }
    "-"? (number "." | "0" [0-7]* [89] [0-9]* | "0" [xX] | decimal [eE] [-+]?) {
        return (enum proto_value)proto_error_number(proto, start, at);
    }
    "-"? word { TAKE(VALUE_WORD); }
    "-"       { TAKE(VALUE_MINUS); }
    plain     { TAKE(VALUE_PLAIN); }
    escaped   { TAKE(VALUE_ESCAPED); }
    [{<]      { TAKE(VALUE_OPEN); }
    "["       { TAKE(VALUE_LIST); }
    lost      { return (enum proto_value)proto_error_string(proto, start, at); }
    other     { return (enum proto_value)proto_error_expected(proto, start, "a value"); }
    */
#undef TAKE
}

static enum proto_head scan_head(struct proto_text *proto, const char *start)
{
    const char *at = start, *marker;
#define TAKE(head) return proto->at = at, head
    /*!re2c
    part = [-A-Za-z0-9_~!$&()*+,;=%]+;
    path = part (space "." space part)*;

    word | digits { TAKE(HEAD_NAME); }
    "[" space path (space "/" space path)* space "]" { TAKE(HEAD_BRACKETED); }
    "[" {
        return (enum proto_head)proto_error(proto, start, at, "for example [package.name] or "
                                      "[type.googleapis.com/package.Name]",
                                      "this is no name of an extension or of an Any");
    }
    [}>]   { TAKE(HEAD_CLOSE); }
    [,;]   { TAKE(HEAD_SEPARATOR); }
    [\x00] {
        if (start == proto->end)
            return HEAD_END;
        return (enum proto_head)proto_error_byte(proto, start);
    }
    other  { return (enum proto_head)proto_error_expected(proto, start, "the name of a field"); }
    */
#undef TAKE
}

/* Passes over the rest of the message that was just entered, which is left. False at an error. */
static bool scan_message(struct proto_text *proto)
{
    uint32_t depth = proto->depth, outer = depth - 1;
    const char *at = proto->at, *marker, *start;
    bool plain;
    for (;;) {
        start = find_mark(proto, at);
        at = skip_string(proto, start, &plain);
        if (at)
            continue;
        at = start;
        /*!re2c
        [A-Za-z0-9_:.,;/\-+~!$&()*=%[\]]+ { continue; }
        blank+    { at = skip_space(at, proto->end); continue; }
        plain | escaped { continue; }
        comment   { continue; }
        [{<] {
            if (depth == PROTO_DEPTH)
                return proto_error_deep(proto, start);
            proto->levels[++depth] =
                (struct proto_level){.begin = start, .close = *start == '{' ? '}' : '>'};
            continue;
        }
        [}>] {
            if (*start != proto->levels[depth].close)
                return proto_error_close(proto, start, depth);
            if (--depth > outer)
                continue;
            proto->at = at;
            proto->depth = outer;
            proto->first = false;
            return true;
        }
        lost      { return proto_error_string(proto, start, at); }
        [\x00] {
            if (start == proto->end)
                return proto_error_open(proto, depth);
            return proto_error_byte(proto, start);
        }
        other     { return proto_error_byte(proto, start); }
        */
    }
}

/* ---- Values ---- */

/* The field's value is not what it should be. */
static bool fail_value(struct proto_text *proto, const struct proto_field *field, const char *what)
{
    if (!proto)
        return false;
    return proto_error(proto, field->text, field->text + field->size, NULL, "%s", what);
}

static unsigned digit(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a' + 10);
}

static bool is_digit(char c, unsigned base)
{
    return ((c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')) && digit(c) < base;
}

/* One literal, its opening quote at *p. */
static char *take_literal(const char **p, const char *end, char *out)
{
    char quote = *(*p)++;
    for (const char *close = NULL;;) {
        if (!close || close < *p) /* else it is still the next one */
            close = memchr(*p, quote, (size_t)(end - *p));
        const char *escape = memchr(*p, '\\', (size_t)(close - *p));
        const char *stop = escape ? escape : close;
        memcpy(out, *p, (size_t)(stop - *p));
        out += stop - *p;
        *p = stop + 1;
        if (!escape)
            return out;
        *p = escape_take(*p, end, &out); /* the scanner has checked it */
    }
}

bool proto_string(struct proto_text *proto, const struct proto_field *field, const char **bytes,
                  size_t *size)
{
    if (field->kind != PROTO_STRING)
        return fail_value(proto, field, "a string is expected here");
    if (field->plain) {
        *bytes = field->text + 1;
        *size = field->size - 2;
        return true;
    }
    if (!proto)
        return false;
    struct text *scratch = &proto->scratch;
    scratch->size = 0;
    if (scratch->capacity <= field->size)
        text_grow(scratch, field->size);
    char *out = scratch->at;
    const char *end = field->text + field->size;
    for (const char *p = field->text; p < end; p = p < end ? skip_space(p, end) : p)
        out = take_literal(&p, end, out);
    *out = '\0';
    *bytes = scratch->at;
    *size = scratch->size = (size_t)(out - scratch->at);
    return true;
}

/* The digits of a number after its sign, which may stand apart. */
static const char *find_digits(const struct proto_field *field, bool *minus)
{
    *minus = *field->text == '-';
    return *minus ? skip_space(field->text + 1, field->text + field->size) : field->text;
}

static unsigned find_base(const char **p, const char *end)
{
    if (end - *p < 2 || **p != '0')
        return 10;
    if (((*p)[1] | 0x20) != 'x')
        return 8;
    *p += 2;
    return 16;
}

enum parsed { PARSED, NOT_INTEGER, TOO_LARGE };

static enum parsed parse_integer(const struct proto_field *field, int64_t *value)
{
    bool minus;
    const char *p = find_digits(field, &minus), *end = field->text + field->size;
    unsigned base = find_base(&p, end);
    uint64_t number = 0;
    bool large = false;
    for (; p < end; p++) {
        if (!is_digit(*p, base))
            return NOT_INTEGER;
        large |= __builtin_mul_overflow(number, (uint64_t)base, &number);
        large |= __builtin_add_overflow(number, (uint64_t)digit(*p), &number);
    }
    if (large || (minus && number > UINT64_C(1) << 63))
        return TOO_LARGE;
    *value = (int64_t)(minus ? 0 - number : number);
    return PARSED;
}

bool proto_integer(struct proto_text *proto, const struct proto_field *field, int64_t *value)
{
    enum parsed parsed = field->kind == PROTO_NUMBER ? parse_integer(field, value) : NOT_INTEGER;
    if (parsed == PARSED)
        return true;
    return fail_value(proto, field,
                      parsed == TOO_LARGE ? "this number does not fit 64 bits"
                                          : "an integer is expected here");
}

/* inf, infinity and nan, in letters of any case, and with an f after them. */
static bool parse_word(const char *word, size_t size, double *value)
{
    if (size > 3 && (word[size - 1] | 0x20) == 'f')
        size--;
    bool inf = (size == 3 && strncasecmp(word, "inf", 3) == 0) ||
               (size == 8 && strncasecmp(word, "infinity", 8) == 0);
    *value = inf ? HUGE_VAL : (double)NAN;
    return inf || (size == 3 && strncasecmp(word, "nan", 3) == 0);
}

bool proto_float(struct proto_text *proto, const struct proto_field *field, double *value)
{
    bool minus = false, known = field->kind == PROTO_NUMBER || field->kind == PROTO_WORD;
    const char *p = known ? find_digits(field, &minus) : NULL;
    const char *end = field->text + field->size;
    if (field->kind == PROTO_NUMBER) {
        const char *digits = p;
        unsigned base = find_base(&digits, end);
        for (const char *q = p; q < end && base == 8; q++) /* octal, or 0.5 */
            base = is_digit(*q, 8) ? 8 : 10;
        if (base == 10)
            decimal_float(p, (size_t)(end - p), value);
        else /* of any size */
            for (*value = 0; digits < end; digits++)
                *value = *value * base + digit(*digits);
    } else {
        known = known && parse_word(p, (size_t)(end - p), value);
    }
    if (!known)
        return fail_value(proto, field, "a number is expected here");
    *value = minus ? -*value : *value;
    return true;
}

bool proto_bool(struct proto_text *proto, const struct proto_field *field, bool *value)
{
    static const char *const words[] = {"false", "False", "f", "true", "True", "t"};
    int64_t number;
    if (field->kind == PROTO_NUMBER && parse_integer(field, &number) == PARSED &&
        (number == 0 || number == 1)) {
        *value = number == 1;
        return true;
    }
    for (unsigned i = 0; field->kind == PROTO_WORD && i < 6; i++) {
        if (field->size != strlen(words[i]) || memcmp(field->text, words[i], field->size) != 0)
            continue;
        *value = i >= 3;
        return true;
    }
    return fail_value(proto, field, "true or false is expected here");
}

/* ---- The cursor ---- */

static void init(struct proto_text *proto, const char *text, size_t size, struct diags *diags)
{
    proto->text = proto->at = text;
    proto->end = text + size;
    proto->diags = diags;
    proto->within = no_span;
    proto->inner = proto->failed = proto->pending = false;
    proto->first = true;
    proto->depth = 0;
    proto->copy = NULL;
    proto->scratch = (struct text){NULL, 0, 0};
    proto->levels[0] = (struct proto_level){.begin = text};
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        proto->at += 3;
}

void proto_init(struct proto_text *proto, const struct source *source, struct diags *diags)
{
    init(proto, source->text, source->size, diags);
}

/* The scanner stops at a NUL. After a string that was not decoded stands its closing quote. */
void proto_init_inner(struct proto_text *proto, const char *bytes, size_t size, struct span within,
                      struct diags *diags)
{
    char *copy = NULL;
    if (bytes[size] != '\0') {
        copy = mem_realloc(NULL, size + 1, 1);
        memcpy(copy, bytes, size);
        copy[size] = '\0';
        bytes = copy;
    }
    init(proto, bytes, size, diags);
    proto->copy = copy;
    proto->within = within;
    proto->inner = true;
}

void proto_free(struct proto_text *proto)
{
    mem_free(proto->copy);
    text_free(&proto->scratch);
}

/* The span of one token, which has no line breaks. */
static inline struct span token_span(const struct proto_text *proto, const char *begin,
                                     const char *end)
{
    if (proto->inner)
        return proto->within;
    return (struct span){(uint32_t)(begin - proto->text), (uint32_t)(end - proto->text)};
}

/* The literals after the first one are joined with it. */
static bool read_string(struct proto_text *proto, struct proto_field *field, bool plain)
{
    const char *end = proto->at, *next;
    bool several = false;
    field->kind = PROTO_STRING;
    for (;;) {
        next = skip_space(end, proto->end);
        if (*next != '"' && *next != '\'')
            break;
        plain = false;
        several = true;
        if (scan_value(proto, next) == VALUE_FAILED)
            return false;
        end = proto->at;
    }
    field->plain = plain;
    field->size = (uint32_t)(end - field->text);
    field->span =
        several ? proto_span(proto, field->text, end) : token_span(proto, field->text, end);
    proto->at = next;
    return true;
}

static bool end_token(struct proto_text *proto, struct proto_field *field, enum proto_kind kind)
{
    field->kind = kind;
    field->size = (uint32_t)(proto->at - field->text);
    field->span = token_span(proto, field->text, proto->at);
    return true;
}

/* After a minus, only words that are numbers make sense. */
static bool read_word(struct proto_text *proto, struct proto_field *field, const char *word,
                      bool minus)
{
    double number;
    if (minus && !parse_word(word, (size_t)(proto->at - word), &number))
        return proto_error(proto, word, proto->at, NULL, "expected a number behind the '-'");
    return end_token(proto, field, PROTO_WORD);
}

/* A minus that stands apart from its number. */
static bool read_minus(struct proto_text *proto, struct proto_field *field)
{
    const char *start = skip_space(proto->at, proto->end);
    enum proto_value value = *start == '-' ? VALUE_MINUS : scan_value(proto, start);
    if (value == VALUE_FAILED)
        return false;
    if (value != VALUE_NUMBER && value != VALUE_WORD)
        return proto_error_expected(proto, start, "a number");
    if (value == VALUE_WORD ? !read_word(proto, field, start, true)
                            : !end_token(proto, field, PROTO_NUMBER))
        return false;
    field->span = proto_span(proto, field->text, proto->at);
    return true;
}

/* Of a value at `start`, but no list. */
static bool read_single(struct proto_text *proto, struct proto_field *field, const char *start)
{
    field->text = start;
    field->plain = 0;
    bool plain;
    const char *end = skip_string(proto, start, &plain);
    if (end) {
        proto->at = end;
        return read_string(proto, field, plain);
    }
    enum proto_value value = scan_value(proto, start);
    switch (value) {
    case VALUE_FAILED: return false;
    case VALUE_NUMBER: return end_token(proto, field, PROTO_NUMBER);
    case VALUE_WORD: return read_word(proto, field, start + (*start == '-'), *start == '-');
    case VALUE_PLAIN:
    case VALUE_ESCAPED: return read_string(proto, field, value == VALUE_PLAIN);
    case VALUE_MINUS: return read_minus(proto, field);
    case VALUE_OPEN: proto->pending = true; return end_token(proto, field, PROTO_MESSAGE);
    case VALUE_LIST:
        return proto_error(proto, start, start + 1, NULL, "a list may not be in a list");
    }
    return false;
}

/* The next element. False at the end of the list, which is left then, or at an error. */
static bool next_element(struct proto_text *proto, struct proto_level *level,
                         struct proto_field *field)
{
    const char *at = skip_space(proto->at, proto->end);
    bool first = proto->first;
    proto->first = false;
    if (*at == ']') {
        level->list = NULL;
        proto->at = at + 1;
        return false;
    }
    if (!first && *at != ',')
        return proto_error_expected(proto, at, "',' or ']'");
    field->name = level->list;
    field->name_size = level->list_size;
    field->bracketed = level->bracketed;
    field->name_span = token_span(proto, level->list, level->list + level->list_size);
    return read_single(proto, field, first ? at : skip_space(at + 1, proto->end));
}

/* After the bracket that begins a list. Without a colon before it, its elements are messages. */
static bool begin_list(struct proto_text *proto, const struct proto_field *field, const char *at,
                       bool colon)
{
    struct proto_level *level = &proto->levels[proto->depth];
    const char *element = skip_space(at + 1, proto->end);
    if (!colon && *element != ']' && *element != '{' && *element != '<')
        return proto_error(proto, at, at + 1, "only messages may do without the colon",
                           "expected ':' before this list");
    level->list = field->name;
    level->list_size = field->name_size;
    level->bracketed = field->bracketed;
    proto->at = element;
    return proto->first = true;
}

/* The name is what stands between the brackets, without blanks and comments around it. `close` is
 * after the closing bracket. */
static void trim_brackets(const struct proto_text *proto, struct proto_field *field,
                          const char *close)
{
    const char *begin = skip_space(field->name + 1, proto->end), *end = begin, *at = begin;
    while (at < close - 1) {
        while (at < close - 1 && (unsigned char)*at > ' ' && *at != '#')
            at++;
        end = at;
        at = skip_space(at, proto->end);
    }
    field->name_span = proto_span(proto, field->name, close);
    field->name = begin;
    field->name_size = (uint32_t)(end - begin);
}

/* False where the list that the field is has begun, too. */
static bool read_field(struct proto_text *proto, struct proto_field *field, const char *start,
                       bool bracketed)
{
    const char *at = proto->at;
    field->name = start;
    field->name_size = (uint32_t)(at - start);
    field->bracketed = bracketed;
    field->name_span = token_span(proto, start, at);
    if (bracketed)
        trim_brackets(proto, field, at);
    at = skip_space(at, proto->end);
    bool colon = *at == ':';
    if (colon)
        at = skip_space(at + 1, proto->end);
    if (*at == '[')
        return begin_list(proto, field, at, colon), false;
    if (!colon && *at != '{' && *at != '<')
        return proto_error_expected(proto, at, "':' or '{'");
    return read_single(proto, field, at);
}

/* A separator may follow each field. */
static bool next_field(struct proto_text *proto, struct proto_field *field)
{
    const char *start = skip_space(proto->at, proto->end);
    enum proto_head head = scan_head(proto, start);
    if (head == HEAD_SEPARATOR && !proto->first) {
        start = skip_space(proto->at, proto->end);
        head = scan_head(proto, start);
    }
    proto->first = false;
    switch (head) {
    case HEAD_NAME:
    case HEAD_BRACKETED: return read_field(proto, field, start, head == HEAD_BRACKETED);
    case HEAD_CLOSE:
        if (proto->depth == 0 || *start != proto->levels[proto->depth].close)
            return proto_error_close(proto, start, proto->depth);
        proto->depth--;
        return false;
    case HEAD_SEPARATOR: return proto_error_expected(proto, start, "the name of a field");
    case HEAD_END: return proto->depth > 0 && proto_error_open(proto, proto->depth);
    case HEAD_FAILED: break;
    }
    return false;
}

void proto_enter(struct proto_text *proto)
{
    if (proto->failed || !proto->pending)
        return;
    const char *bracket = proto->at - 1;
    proto->pending = false;
    proto->first = true;
    if (proto->depth == PROTO_DEPTH) {
        proto_error_deep(proto, bracket);
        return;
    }
    proto->levels[++proto->depth] =
        (struct proto_level){.begin = bracket, .close = *bracket == '{' ? '}' : '>'};
}

bool proto_next(struct proto_text *proto, struct proto_field *field)
{
    if (proto->pending) {
        proto_enter(proto);
        if (!proto->failed)
            scan_message(proto);
    }
    for (;;) {
        if (proto->failed)
            return false;
        struct proto_level *level = &proto->levels[proto->depth];
        if (level->list) {
            if (next_element(proto, level, field))
                return true;
        } else if (next_field(proto, field)) {
            return true;
        } else if (!level->list || proto->failed) {
            return false;
        }
    }
}
