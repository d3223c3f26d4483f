/* The scanner of protobuf's text format. -*- c -*- */
#include "frontend/exchange/text/proto_text.h"
#include "frontend/exchange/text/proto_error.h"

#include <stdint.h>

static const char too_deep[] = "messages are nested more than %d deep";

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

/* The scanner stops at a NUL. Behind a string that was not decoded stands its closing quote. */
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

/* ---- What cannot be read. What is cold stays out of the functions that are not. ---- */

#define COLD __attribute__((cold, noinline))

COLD static bool fail_byte(struct proto_text *proto, const char *at)
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

/* Something else than `wanted` stands here. */
COLD static bool fail_expected(struct proto_text *proto, const char *at, const char *wanted)
{
    unsigned char byte = (unsigned char)*at;
    if (at == proto->end)
        return proto_error(proto, at, at, NULL, "the text ends where %s is expected", wanted);
    if (byte <= 0x20 || byte >= 0x7f)
        return fail_byte(proto, at);
    return proto_error(proto, at, at + 1, NULL, "expected %s here, not '%c'", wanted, byte);
}

/* At the end of the text, in a message, at most as deep as `depth`. */
COLD static bool fail_open(struct proto_text *proto, uint32_t depth)
{
    const struct proto_level *level = &proto->levels[depth];
    return proto_error(proto, level->begin, level->begin + 1,
                       "is the rest of the file missing?",
                       "this message is not ended by '%c'", level->close);
}

/* A bracket that does not end the message that is open. */
COLD static bool fail_close(struct proto_text *proto, const char *at, uint32_t depth)
{
    if (depth == 0)
        return proto_error(proto, at, at + 1, NULL, "no message is open that this '%c' ends", *at);
    const struct proto_level *level = &proto->levels[depth];
    return proto_error(proto, at, at + 1, NULL,
                       "expected '%c' at the end of this message, not '%c'", level->close, *at);
}

/* ---- Between tokens ---- */

/* Sixteen bytes at a time. Of a comparison, a byte is all ones where it holds. */
typedef unsigned char bytes16 __attribute__((vector_size(16)));

/* The index of the first byte that is not zero, or 16. */
static inline unsigned first_hit(bytes16 bytes)
{
    uint64_t half[2];
    memcpy(half, &bytes, sizeof half);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return half[0]   ? (unsigned)__builtin_ctzll(half[0]) >> 3
           : half[1] ? 8 + ((unsigned)__builtin_ctzll(half[1]) >> 3)
                     : 16;
#else
    return half[0]   ? (unsigned)__builtin_clzll(half[0]) >> 3
           : half[1] ? 8 + ((unsigned)__builtin_clzll(half[1]) >> 3)
                     : 16;
#endif
}

/* The first byte that ends a string or needs a closer look, or one of the last sixteen. */
static inline const char *find_string_end(const struct proto_text *proto, const char *at,
                                          char quote)
{
    bytes16 bytes;
    while (proto->end - at >= (ptrdiff_t)sizeof bytes) {
        memcpy(&bytes, at, sizeof bytes);
        unsigned hit = first_hit((bytes16)((bytes == (unsigned char)quote) | (bytes == '\\') |
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
    bytes16 bytes;
    while (proto->end - at >= (ptrdiff_t)sizeof bytes) {
        memcpy(&bytes, at, sizeof bytes);
        bytes16 brackets = (bytes16)(bytes - '{' <= 2) | (bytes16)(bytes - '<' <= 2);
        bytes16 quotes = (bytes16)(bytes - '"' <= 1) | (bytes16)(bytes == '\'');
        bytes16 wrong = (bytes16)(((signed16)bytes < ' ') & (bytes != '\n'));
        unsigned hit = first_hit(brackets | quotes | wrong);
        at += hit;
        if (hit < sizeof bytes)
            break;
    }
    return at;
}

/* Behind spaces, eight at a time: indentation is the larger part of most texts. */
static inline const char *skip_indent(const struct proto_text *proto, const char *at)
{
    static const uint64_t spaces = UINT64_C(0x2020202020202020);
    uint64_t eight;
    while (proto->end - at >= (ptrdiff_t)sizeof eight) {
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
static const char *skip_blanks(const struct proto_text *proto, const char *at)
{
    for (;;) {
        at += *at == '\n';
        if (*at == ' ')
            at = skip_indent(proto, at);
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

/* Behind blanks and comments. */
static inline const char *skip_space(const struct proto_text *proto, const char *at)
{
    if ((unsigned char)*at > '#')
        return at;
    if (*at == ' ' && (unsigned char)at[1] > '#')
        return at + 1;
    return skip_blanks(proto, at);
}

/* The span of one token, which has no line breaks. */
static inline struct span token_span(const struct proto_text *proto, const char *begin,
                                     const char *end)
{
    if (proto->inner)
        return proto->within;
    return (struct span){(uint32_t)(begin - proto->text), (uint32_t)(end - proto->text)};
}

/* ---- Values ---- */

enum value {
    VALUE_FAILED,
    VALUE_NUMBER,
    VALUE_WORD,
    VALUE_PLAIN,   /* a string without escapes */
    VALUE_ESCAPED, /* a string with escapes */
    VALUE_MINUS,
    VALUE_OPEN,
    VALUE_LIST
};

/* A string that does not end: `at` is where it went wrong. */
COLD static bool fail_string(struct proto_text *proto, const char *start, const char *at)
{
    static const char escapes[] =
        "escapes are \\a \\b \\f \\n \\r \\t \\v \\? \\' \\\" \\\\, one to three "
        "octal digits, \\xHH, \\uHHHH and \\UHHHHHHHH";
    if (*at == '\\' && at[1] != '\n' && at + 1 < proto->end)
        return proto_error(proto, at, at + 2, escapes, "this escape is none of protobuf's");
    if (*at == '\0' && at < proto->end)
        return fail_byte(proto, at);
    return proto_error(proto, start, at, "a line break in a string is written \\n",
                       "this string does not end on its line");
}

/* A number that goes on with what cannot belong to it. */
COLD static bool fail_number(struct proto_text *proto, const char *start, const char *at)
{
    return proto_error(proto, start, at,
                       "numbers are decimal, octal behind a 0, hexadecimal behind 0x, or floats",
                       "this number is malformed");
}

/* The token at `start`; proto->at goes behind it. */
static enum value scan_value(struct proto_text *proto, const char *start)
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
        return (enum value)fail_number(proto, start, at);
    }
    "-"? word { TAKE(VALUE_WORD); }
    "-"       { TAKE(VALUE_MINUS); }
    plain     { TAKE(VALUE_PLAIN); }
    escaped   { TAKE(VALUE_ESCAPED); }
    [{<]      { TAKE(VALUE_OPEN); }
    "["       { TAKE(VALUE_LIST); }
    lost      { return (enum value)fail_string(proto, start, at); }
    other     { return (enum value)fail_expected(proto, start, "a value"); }
    */
#undef TAKE
}

/* The literals behind the first one are joined with it. */
static bool read_string(struct proto_text *proto, struct proto_field *field, bool plain)
{
    const char *end = proto->at, *next;
    bool several = false;
    field->kind = PROTO_STRING;
    for (;;) {
        next = skip_space(proto, end);
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
    field->span = several ? proto_span(proto, field->text, end)
                          : token_span(proto, field->text, end);
    proto->at = next;
    return true;
}

/* Behind a minus, only words that are numbers make sense. */
static bool is_number_word(const char *word, size_t size)
{
    static const char *const words[] = {"inf", "infinity", "nan"};
    if (size > 3 && (word[size - 1] | 0x20) == 'f')
        size--;
    for (unsigned i = 0; i < 3; i++) {
        size_t p = 0;
        while (p < size && (word[p] | 0x20) == words[i][p])
            p++;
        if (p == size && words[i][p] == '\0')
            return true;
    }
    return false;
}

static bool end_token(struct proto_text *proto, struct proto_field *field, enum proto_kind kind)
{
    field->kind = kind;
    field->size = (uint32_t)(proto->at - field->text);
    field->span = token_span(proto, field->text, proto->at);
    return true;
}

static bool read_word(struct proto_text *proto, struct proto_field *field, const char *word,
                      bool minus)
{
    if (minus && !is_number_word(word, (size_t)(proto->at - word)))
        return proto_error(proto, word, proto->at, NULL, "expected a number behind the '-'");
    return end_token(proto, field, PROTO_WORD);
}

/* A minus that stands apart from its number. */
static bool read_minus(struct proto_text *proto, struct proto_field *field)
{
    const char *start = skip_space(proto, proto->at);
    enum value value = *start == '-' ? VALUE_MINUS : scan_value(proto, start);
    if (value == VALUE_FAILED)
        return false;
    if (value != VALUE_NUMBER && value != VALUE_WORD)
        return fail_expected(proto, start, "a number");
    if (value == VALUE_WORD ? !read_word(proto, field, start, true)
                            : !end_token(proto, field, PROTO_NUMBER))
        return false;
    field->span = proto_span(proto, field->text, proto->at);
    return true;
}

static bool read_message(struct proto_text *proto, struct proto_field *field)
{
    proto->pending = true;
    return end_token(proto, field, PROTO_MESSAGE);
}

/* Behind a string at `start`, if it is one without escapes and not at the end of the text; or
 * NULL. */
static inline const char *skip_plain(const struct proto_text *proto, const char *start)
{
    if (*start != '"' && *start != '\'')
        return NULL;
    const char *end = find_string_end(proto, start + 1, *start);
    return *end == *start ? end + 1 : NULL;
}

/* Of a value at `start`, but no list. */
static bool read_single(struct proto_text *proto, struct proto_field *field, const char *start)
{
    field->text = start;
    field->plain = 0;
    const char *end = skip_plain(proto, start);
    if (end) {
        proto->at = end;
        return read_string(proto, field, true);
    }
    enum value value = scan_value(proto, start);
    switch (value) {
    case VALUE_FAILED: return false;
    case VALUE_NUMBER: return end_token(proto, field, PROTO_NUMBER);
    case VALUE_WORD: return read_word(proto, field, start + (*start == '-'), *start == '-');
    case VALUE_PLAIN:
    case VALUE_ESCAPED: return read_string(proto, field, value == VALUE_PLAIN);
    case VALUE_MINUS: return read_minus(proto, field);
    case VALUE_OPEN: return read_message(proto, field);
    case VALUE_LIST:
        return proto_error(proto, start, start + 1, NULL, "a list may not be in a list");
    }
    return false;
}

/* ---- Lists ---- */

static void list_field(const struct proto_text *proto, const struct proto_level *level,
                       struct proto_field *field)
{
    field->name = level->list;
    field->name_size = level->list_size;
    field->bracketed = level->bracketed;
    field->name_span = token_span(proto, level->list, level->list + level->list_size);
}

/* The next element. False at the end of the list, which is left then, or at an error. */
static bool next_element(struct proto_text *proto, struct proto_level *level,
                         struct proto_field *field)
{
    const char *at = skip_space(proto, proto->at);
    bool first = proto->first;
    proto->first = false;
    if (*at == ']') {
        level->list = NULL;
        proto->at = at + 1;
        return false;
    }
    if (!first && *at != ',')
        return fail_expected(proto, at, "',' or ']'");
    list_field(proto, level, field);
    return read_single(proto, field, first ? at : skip_space(proto, at + 1));
}

/* Behind the bracket that begins a list. Without a colon before it, its elements are messages. */
static bool begin_list(struct proto_text *proto, const struct proto_field *field, const char *at,
                       bool colon)
{
    struct proto_level *level = &proto->levels[proto->depth];
    const char *element = skip_space(proto, at + 1);
    if (!colon && *element != ']' && *element != '{' && *element != '<')
        return proto_error(proto, at, at + 1, "only messages may do without the colon",
                           "expected ':' before this list");
    level->list = field->name;
    level->list_size = field->name_size;
    level->bracketed = field->bracketed;
    proto->at = element;
    return proto->first = true;
}

/* ---- Fields ---- */

enum head { HEAD_FAILED, HEAD_NAME, HEAD_BRACKETED, HEAD_CLOSE, HEAD_SEPARATOR, HEAD_END };

static enum head scan_head(struct proto_text *proto, const char *start)
{
    const char *at = start, *marker;
#define TAKE(head) return proto->at = at, head
    /*!re2c
    part = [-A-Za-z0-9_~!$&()*+,;=%]+;
    path = part (space "." space part)*;

    word | digits { TAKE(HEAD_NAME); }
    "[" space path (space "/" space path)* space "]" { TAKE(HEAD_BRACKETED); }
    "[" {
        return (enum head)proto_error(proto, start, at, "for example [package.name] or "
                                      "[type.googleapis.com/package.Name]",
                                      "this is no name of an extension or of an Any");
    }
    [}>]   { TAKE(HEAD_CLOSE); }
    [,;]   { TAKE(HEAD_SEPARATOR); }
    [\x00] {
        if (start == proto->end)
            return HEAD_END;
        return (enum head)fail_byte(proto, start);
    }
    other  { return (enum head)fail_expected(proto, start, "the name of a field"); }
    */
#undef TAKE
}

/* The name is what stands between the brackets, without blanks and comments around it. `close` is
 * behind the closing bracket. */
static void trim_brackets(const struct proto_text *proto, struct proto_field *field,
                          const char *close)
{
    const char *begin = skip_space(proto, field->name + 1), *end = begin, *at = begin;
    while (at < close - 1) {
        while (at < close - 1 && (unsigned char)*at > ' ' && *at != '#')
            at++;
        end = at;
        at = skip_space(proto, at);
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
    at = skip_space(proto, at);
    bool colon = *at == ':';
    if (colon)
        at = skip_space(proto, at + 1);
    if (*at == '[')
        return begin_list(proto, field, at, colon), false;
    if (!colon && *at != '{' && *at != '<')
        return fail_expected(proto, at, "':' or '{'");
    return read_single(proto, field, at);
}

static inline bool leave(struct proto_text *proto, const char *at)
{
    const struct proto_level *level = &proto->levels[proto->depth];
    if (proto->depth == 0 || *at != level->close)
        return fail_close(proto, at, proto->depth);
    proto->depth--;
    proto->first = false;
    return false;
}

/* A separator may stand behind each field. */
static enum head next_head(struct proto_text *proto, const char **start)
{
    bool first = proto->first;
    *start = skip_space(proto, proto->at);
    enum head head = scan_head(proto, *start);
    if (head != HEAD_SEPARATOR)
        return head;
    if (!first) {
        *start = skip_space(proto, proto->at);
        head = scan_head(proto, *start);
        if (head != HEAD_SEPARATOR)
            return head;
    }
    return (enum head)fail_expected(proto, *start, "the name of a field");
}

static bool next_field(struct proto_text *proto, struct proto_field *field)
{
    const char *start;
    enum head head = next_head(proto, &start);
    proto->first = false;
    switch (head) {
    case HEAD_NAME:
    case HEAD_BRACKETED: return read_field(proto, field, start, head == HEAD_BRACKETED);
    case HEAD_CLOSE: return leave(proto, start);
    case HEAD_END: return proto->depth > 0 && fail_open(proto, proto->depth);
    default: return false;
    }
}

/* ---- Messages ---- */

void proto_enter(struct proto_text *proto)
{
    if (proto->failed || !proto->pending)
        return;
    const char *bracket = proto->at - 1;
    proto->pending = false;
    proto->first = true;
    if (proto->depth == PROTO_DEPTH) {
        proto_error(proto, bracket, bracket + 1, NULL, too_deep, PROTO_DEPTH);
        return;
    }
    proto->levels[++proto->depth] =
        (struct proto_level){.begin = bracket, .close = *bracket == '{' ? '}' : '>'};
}

/* Passes over the rest of the message that was just entered. */
static bool skip_message(struct proto_text *proto)
{
    uint32_t depth = proto->depth, outer = depth - 1;
    const char *at = proto->at, *marker, *start;
    for (;;) {
        start = find_mark(proto, at);
        at = skip_plain(proto, start);
        if (at)
            continue;
        at = start;
        /*!re2c
        [A-Za-z0-9_:.,;/\-+~!$&()*=%[\]]+ { continue; }
        blank+    { at = skip_space(proto, at); continue; }
        plain | escaped { continue; }
        comment   { continue; }
        [{<] {
            if (depth == PROTO_DEPTH)
                return proto_error(proto, start, at, NULL, too_deep, PROTO_DEPTH);
            proto->levels[++depth] =
                (struct proto_level){.begin = start, .close = *start == '{' ? '}' : '>'};
            continue;
        }
        [}>] {
            if (*start != proto->levels[depth].close)
                return fail_close(proto, start, depth);
            if (--depth > outer)
                continue;
            proto->at = at;
            proto->depth = outer;
            proto->first = false;
            return true;
        }
        lost      { return fail_string(proto, start, at); }
        [\x00] {
            if (start == proto->end)
                return fail_open(proto, depth);
            return fail_byte(proto, start);
        }
        other     { return fail_byte(proto, start); }
        */
    }
}

bool proto_next(struct proto_text *proto, struct proto_field *field)
{
    if (proto->pending) {
        proto_enter(proto);
        if (!proto->failed)
            skip_message(proto);
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
