/* The scanner of .skir text. -*- c -*- */
#include "ir/syntax/mistakes.h"
#include "ir/syntax/scanner.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void scanner_init(struct scanner *scanner, struct source *source, struct module *module,
                  struct diags *diags)
{
    *scanner = (struct scanner){.source = source,
                                .origin = (uintptr_t)source->text,
                                .first = source->text,
                                .cursor = source->text,
                                .start = source->text,
                                .limit = source->text + source->size,
                                .module = module,
                                .diags = diags,
                                .resync_depth = NONE};
}

void scanner_seek(struct scanner *scanner, uint32_t offset)
{
    uint32_t begin = offset;
    const struct source *file = source_at(scanner->source, &begin);
    scanner->first = file->text;
    scanner->cursor = scanner->start = file->text + begin;
    scanner->limit = file->text + file->size;
    scanner->origin = (uintptr_t)scanner->cursor - offset;
}

void scanner_free(struct scanner *scanner)
{
    vec_free(&scanner->comments);
    vec_free(&scanner->known_ids);
    intern_free(&scanner->known_texts);
}

void scanner_know(struct scanner *scanner, struct span span, uint32_t id)
{
    uint32_t text = intern_static(&scanner->known_texts, scanner_text(scanner, span.begin),
                                  span.end - span.begin);
    if (text == scanner->known_ids.count)
        vec_push(&scanner->known_ids, id);
}

/* Of what scanner_next() ends with: it is no part of it, so that a token begins without registers
 * being saved for all of them. */
#define LAST __attribute__((noinline))

static LAST int scan_error(struct scanner *scanner, enum diag_id id, const char *text)
{
    if (scanner->diags)
        diag_at(scanner->diags, id, scanner_span(scanner), "%s", text);
    return TOKEN_ERROR;
}

/* Bytes that begin no token. */
static LAST int scan_stray(struct scanner *scanner, const char *format)
{
    bool comment = *scanner->start == '/' && scanner->cursor < scanner->limit &&
                   *scanner->cursor == '*';
    const struct mistake_place place = {.text = scanner->first,
                                        .begin = scanner->start,
                                        .end = scanner->cursor + comment,
                                        .before = scanner->previous_end,
                                        .context = AT_CHARACTER |
                                                   (scanner->in_body ? IN_BODY : IN_HEAD)};
    if (!scanner->diags || !diag_at(scanner->diags, DIAG_syntax, scanner_span(scanner), format,
                                    (unsigned char)*scanner->start))
        return TOKEN_ERROR;
    const char *help = mistake_help(&place, &scanner->diags->arena);
    if (help)
        diag_help(scanner->diags, "%s", help);
    return TOKEN_ERROR;
}

/* A token that stands for a name. */
static inline uint64_t make_name(const struct scanner *scanner, uint32_t id)
{
    return token_make(id, scanner_offset(scanner, scanner->start));
}

static inline uint32_t name_id(const struct scanner *scanner, const char *name, const char *end)
{
    return intern_plain(&scanner->module->names, name, (size_t)(end - name), scanner->limit);
}

/* Whether a value is the first token of its line, or follows such ones with commas between them:
 * where others stand, what follows it is wrong and is to be said of. */
static inline bool is_result(const struct scanner *scanner)
{
    const char *before = scanner->previous_end;
    return *before == '\n' || (scanner->in_results && before[-1] == ',');
}

/* A name behind its sigil, `%` or `@`. */
static LAST int scan_name(struct scanner *scanner, enum token token, union token_value *value)
{
    scanner->in_results = is_result(scanner);
    value->name = make_name(scanner, name_id(scanner, scanner->start + 1, scanner->cursor));
    return token;
}

/* The value begins at its sigil. */
static LAST int scan_more(struct scanner *scanner, union token_value *value)
{
    const char *sigil = scanner->start + 2;
    uint32_t id = name_id(scanner, sigil + 1, scanner->cursor);
    value->name = token_make(id, scanner_offset(scanner, sigil));
    return TOKEN_MORE;
}

/* The id of an op's type, which ends before the cursor's `(`. */
static inline uint32_t callee_id(struct scanner *scanner, const char *type)
{
    struct intern *names = &scanner->module->names;
    size_t size = (size_t)(scanner->cursor - 1 - type);
    uint32_t *recent = intern_recent_at(&scanner->recent_types, type, size);
    uint32_t id = intern_recent_get(names, recent, type, size);
    if (id == NONE) {
        id = intern_static(names, type, size);
        *recent = id + 1;
    }
    return id;
}

/* `%name = Type(`, of which the name ends at `end`. */
static LAST int scan_head(struct scanner *scanner, const char *end, union token_value *value)
{
    bool may_be = scanner->in_body && !scanner->in_call && is_result(scanner);
    uint32_t type = may_be ? callee_id(scanner, end + 3) : NONE;
    if (!may_be || type < W_INSTR_END) {
        scanner->cursor = end;
        return scan_name(scanner, TOKEN_VALUE, value);
    }
    scanner->in_call = true;
    scanner->callee = token_make(type, scanner_offset(scanner, end + 3));
    value->name = make_name(scanner, name_id(scanner, scanner->start + 1, end));
    return TOKEN_HEAD;
}

static LAST int scan_word(struct scanner *scanner, union token_value *value)
{
    size_t size = (size_t)(scanner->cursor - scanner->start);
    uint32_t id = intern_static(&scanner->module->names, scanner->start, size);
    value->name = make_name(scanner, id);
    if (id >= W_INSTR_END)
        return TOKEN_WORD;
    if (id < W_DTYPE_END)
        return id < W_KEYWORD_END ? TOKEN_KEYWORD + (int)id : TOKEN_DTYPE;
    bool event = instr_info(id - W_DTYPE_END)->effect == EFFECT_EVENT;
    return scanner->in_program && event ? TOKEN_EVENT_INSTR : TOKEN_INSTR;
}

/* Without a NUL at its end, strtoll could read on into what follows the token. */
static LAST int scan_int(struct scanner *scanner, union token_value *value)
{
    char text[72];
    size_t size = (size_t)(scanner->cursor - scanner->start);
    if (size >= sizeof text)
        return scan_error(scanner, DIAG_number_range, "this number does not fit 64 bits");
    memcpy(text, scanner->start, size);
    text[size] = '\0';
    errno = 0;
    value->i = strtoll(text, NULL, text[1] == 'x' ? 16 : 10);
    if (errno == ERANGE)
        return scan_error(scanner, DIAG_number_range, "this number does not fit 64 bits");
    return TOKEN_INT;
}

static LAST int scan_float(struct scanner *scanner, union token_value *value)
{
    char text[512];
    size_t size = (size_t)(scanner->cursor - scanner->start);
    if (size >= sizeof text)
        return scan_error(scanner, DIAG_number_range, "this number has too many digits");
    memcpy(text, scanner->start, size);
    text[size] = '\0';
    value->f = strtod(text, NULL);
    if (isinf(value->f))
        return scan_error(scanner, DIAG_number_range, "this number does not fit a 64-bit float");
    return TOKEN_FLOAT;
}

static int hex_digit(char c)
{
    return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* Interns the text between two quotes, escapes resolved. The lexer has checked the escapes. */
static uint32_t intern_quoted(struct scanner *scanner, const char *p, const char *end)
{
    struct intern *names = &scanner->module->names;
    if (!memchr(p, '\\', (size_t)(end - p)))
        return intern_static(names, p, (size_t)(end - p));
    char *text = mem_realloc(NULL, (size_t)(end - p), 1), *out = text;
    for (; p < end; p++) {
        if (*p != '\\') {
            *out++ = *p;
            continue;
        }
        switch (*++p) {
        case 'n': *out++ = '\n'; break;
        case 't': *out++ = '\t'; break;
        case 'r': *out++ = '\r'; break;
        case 'x':
            *out++ = (char)(hex_digit(p[1]) * 16 + hex_digit(p[2]));
            p += 2;
            break;
        default: *out++ = *p; break;
        }
    }
    uint32_t id = intern_copy(names, text, (size_t)(out - text));
    mem_free(text);
    return id;
}

static LAST int scan_quoted(struct scanner *scanner, const char *quote, enum token token,
                            union token_value *value)
{
    if (scanner->cursor - quote <= 2 && token != TOKEN_STRING)
        return scan_error(scanner, DIAG_syntax, "a name may not be empty");
    value->name = make_name(scanner, intern_quoted(scanner, quote + 1, scanner->cursor - 1));
    return token;
}

/* The id of a text that is one token, or NONE. */
static inline uint32_t find_known(struct scanner *scanner, const char *start, const char *end)
{
    size_t size = (size_t)(end - start);
    uint32_t *recent = intern_recent_at(&scanner->recent_texts, start, size);
    uint32_t id = intern_recent_get(&scanner->known_texts, recent, start, size);
    if (id == NONE) {
        id = intern_find(&scanner->known_texts, start, size);
        if (id == NONE)
            return NONE;
        *recent = id + 1;
    }
    return scanner->known_ids.at[id];
}

static inline uint32_t find_type(struct scanner *scanner, const char *start, const char *end)
{
    size_t size = (size_t)(end - start);
    if (size == scanner->last_type.size && memcmp(start, scanner->last_type.text, size) == 0)
        return scanner->last_type.id;
    uint32_t id = find_known(scanner, start, end);
    if (id != NONE) {
        scanner->last_type.text = start;
        scanner->last_type.size = size;
        scanner->last_type.id = id;
    }
    return id;
}

/* Whether a format may follow the type that ends here, apart from it. */
static inline bool format_follows(const char *end)
{
    while (*end == ' ' || *end == '\n' || *end == '\t' || *end == '\r')
        end++;
    return *end == ':' || *end == '/';
}

/* What begins like a type: takes all of it where it is known. */
static LAST int scan_type(struct scanner *scanner, union token_value *value)
{
    const char *start = scanner->start, *end = scanner->cursor;
    uint32_t id = find_type(scanner, start, end);
    if (id != NONE && !format_follows(end)) {
        value->name = make_name(scanner, id);
        return TOKEN_TYPE;
    }
    scanner->cursor = memchr(start, '[', (size_t)(end - start));
    if (*start != '?')
        return scan_word(scanner, value);
    value->name = make_name(scanner, 0);
    return *start;
}

/* Bytes of a dictionary that is one token, at most. */
enum { MAX_DICT = 256 };

/* Behind the brace of the dictionary that the last token begins, if it is so short; or NULL. */
static const char *dict_end(const struct scanner *scanner, const char *start)
{
    size_t left = (size_t)(scanner->limit - start);
    const char *brace = memchr(start, '}', left < MAX_DICT ? left : MAX_DICT);
    return brace ? brace + 1 : NULL;
}

bool scanner_is_plain_dict(const struct scanner *scanner, struct span span)
{
    const char *start = scanner_text(scanner, span.begin);
    size_t size = span.end - span.begin;
    /* A slash may begin a comment, and every comment is recorded. */
    return dict_end(scanner, start) == start + size && !memchr(start + 1, '{', size - 1) &&
           !memchr(start, '/', size);
}

/* The brace of attributes was scanned: takes all of them where they are known. */
static LAST int scan_attr_brace(struct scanner *scanner, union token_value *value)
{
    const char *end = scanner->in_body ? dict_end(scanner, scanner->start) : NULL;
    uint32_t id = end ? find_known(scanner, scanner->start, end) : NONE;
    if (id == NONE) {
        scanner->depth++;
        return TOKEN_ATTR_BRACE;
    }
    scanner->cursor = end;
    value->name = make_name(scanner, id);
    return TOKEN_DICT;
}

/* Bytes of a TOKEN_REST, at most. */
enum { MAX_REST = 256 };

/* The end of the line, if it is so near; or NULL. */
static const char *rest_end(const struct scanner *scanner, const char *start)
{
    size_t left = (size_t)(scanner->limit - start);
    return memchr(start, '\n', left < MAX_REST ? left : MAX_REST);
}

bool scanner_is_plain_rest(const struct scanner *scanner, struct span span)
{
    const char *start = scanner_text(scanner, span.begin);
    size_t size = span.end - span.begin;
    return rest_end(scanner, start) == start + size && !memchr(start, '/', size);
}

/* The `)` of a call was scanned. */
static LAST int scan_close(struct scanner *scanner, union token_value *value)
{
    const char *end = rest_end(scanner, scanner->start);
    uint32_t id = end ? find_known(scanner, scanner->start, end) : NONE;
    scanner->in_call = false;
    if (id == NONE || format_follows(end)) {
        value->name = make_name(scanner, 0);
        return ')';
    }
    scanner->cursor = end;
    value->name = make_name(scanner, id);
    return TOKEN_REST;
}

void scanner_split(struct scanner *scanner)
{
    const char *end = scanner->start + 1;
    if (*scanner->start == '%')
        while (*end != ' ')
            end++;
    scanner->cursor = end;
    scanner->depth += *scanner->start == '{';
}

/* The end of the string or comment that begins at `p`, or `p`. Neither goes beyond its line. */
static const char *skip_inert(const struct scanner *scanner, const char *p)
{
    const char *limit = scanner->limit;
    bool comment = *p == '/' && limit - p > 1 && p[1] == '/';
    if (!comment && *p != '"')
        return p;
    const char *end = p + 1;
    for (; end < limit && *end != '\n' && (comment || *end != '"'); end++)
        if (!comment && *end == '\\' && limit - end > 1 && end[1] != '\n')
            end++;
    return end;
}

/* A string without an end has swallowed what follows it on its line, braces too. */
static LAST int scan_open_string(struct scanner *scanner)
{
    for (const char *p = scanner->start; p < scanner->cursor; p++) {
        scanner->depth += *p == '{';
        scanner->depth -= *p == '}' && scanner->depth > 0;
    }
    return scan_error(scanner, DIAG_syntax,
                      "this string does not end on its line, or has an unknown escape");
}

/* Skips to the end of the line on which at most `resync_depth` braces are open, not beyond the
 * brace that closes the block. Braces in strings and comments are none. */
static LAST int scan_resync(struct scanner *scanner)
{
    const char *p = scanner->cursor;
    uint32_t depth = scanner->depth;
    for (; p < scanner->limit; p++) {
        p = skip_inert(scanner, p);
        if (p == scanner->limit)
            break;
        if (*p == '{') {
            depth++;
        } else if (*p == '}') {
            if (depth <= scanner->resync_depth)
                break;
            depth--;
        } else if (*p == '\n' && depth <= scanner->resync_depth) {
            break;
        }
    }
    scanner->depth = depth;
    scanner->in_call = false;
    scanner->start = scanner->cursor = p;
    scanner->resync_depth = NONE;
    return TOKEN_RESYNC;
}

/* As LAST, though it is not the end. */
static __attribute__((cold, noinline)) void note_comment(struct scanner *scanner, const char *start,
                                                         const char *end)
{
    struct span span = {scanner_offset(scanner, start), scanner_offset(scanner, end)};
    vec_push(&scanner->comments, span);
}

int scanner_next(struct scanner *scanner, union token_value *value)
{
    const char *cursor = scanner->cursor, *marker, *start, *end;
    /*!stags:re2c format = "const char *@@;"; */
    scanner->previous_end = cursor;
    if (scanner->resync_depth != NONE)
        return scan_resync(scanner);

/* Ends the token at the cursor. */
#define TAKE (scanner->start = start, scanner->cursor = cursor)
#define TAKE_MARK (TAKE, value->name = make_name(scanner, 0))

again:
    start = cursor;
    /*!re2c
    re2c:define:YYCTYPE = "unsigned char";
    re2c:define:YYCURSOR = cursor;
    re2c:define:YYMARKER = marker;
    re2c:yyfill:enable = 0;
    re2c:flags:tags = 1;

    name    = [A-Za-z0-9_.$]+;
    word    = [A-Za-z_][A-Za-z0-9_]*;
    blank   = [ \t\r\n];
    comment = "//" [^\n\x00]*;
    space   = (blank | comment "\n")*;
    digits  = [0-9]+;
    escape  = "\\" ([\\"ntr] | "x" [0-9A-Fa-f]{2});
    quoted  = ["] ([^"\\\n\x00] | escape)* ["];

    [ \t\r\n]+ { goto again; }
    comment {
        if (scanner->diags)
            note_comment(scanner, start, cursor);
        goto again;
    }

    "%" name   { TAKE; return scan_name(scanner, TOKEN_VALUE, value); }
    "%" name @end " = " [A-Z] [A-Za-z0-9_]* "(" { TAKE; return scan_head(scanner, end, value); }
    "@" name   { TAKE; return scan_name(scanner, TOKEN_SYMBOL, value); }
    "%" quoted { TAKE; return scan_quoted(scanner, start + 1, TOKEN_VALUE, value); }
    "@" quoted { TAKE; return scan_quoted(scanner, start + 1, TOKEN_SYMBOL, value); }
    quoted     { TAKE; return scan_quoted(scanner, start, TOKEN_STRING, value); }

    "inf"  { TAKE; value->f = HUGE_VAL; return TOKEN_FLOAT; }
    "-inf" { TAKE; value->f = -HUGE_VAL; return TOKEN_FLOAT; }
    "nan"  { TAKE; value->f = (double)NAN; return TOKEN_FLOAT; }
    word   { TAKE; return scan_word(scanner, value); }
    (word | "?") "[" [0-9A-Za-z_?*+,. ]* "]" (":" [A-Z][A-Za-z0-9_]*)? {
        TAKE;
        return scan_type(scanner, value);
    }

    "-"? digits | "0x" [0-9A-Fa-f]+ { TAKE; return scan_int(scanner, value); }
    "-"? digits ("." digits ([eE] [-+]? digits)? | [eE] [-+]? digits) {
        TAKE;
        return scan_float(scanner, value);
    }

    "->" { TAKE_MARK; return TOKEN_ARROW; }
    ".." { TAKE_MARK; return TOKEN_DOTS; }
    "{" / space (word | quoted) space [=,}] {
        TAKE_MARK;
        return scan_attr_brace(scanner, value);
    }
    "{" { scanner->depth++; TAKE_MARK; return *start; }
    "}" { scanner->depth -= scanner->depth > 0; TAKE_MARK; return *start; }
    ", %" name {
        if (!scanner->in_call) {
            cursor = start + 1;
            TAKE_MARK;
            return *start;
        }
        TAKE;
        return scan_more(scanner, value);
    }
    ")" {
        TAKE_MARK;
        return scanner->in_call ? scan_close(scanner, value) : *start;
    }
    [(=:,?*+] | "[" | "]" { TAKE_MARK; return *start; }

    "%" | "@" { TAKE; return scan_stray(scanner, "expected a name here"); }
    ["] ([^"\\\n\x00] | escape)* { TAKE; return scan_open_string(scanner); }
    [\x00] {
        if (start < scanner->limit)
            goto stray;
        cursor = start; /* and stay there */
        TAKE;
        return TOKEN_END;
    }
    * {
    stray:
        TAKE;
        return scan_stray(scanner,
                          strncmp((const char *)start, "\xef\xbb\xbf", 3) == 0
                              ? "unexpected byte 0x%02x of a byte order mark: files have none"
                          : *start > 0x20 && *start < 0x7f ? "unexpected character '%c'"
                                                           : "unexpected byte 0x%02x");
    }
    */
#undef TAKE
#undef TAKE_MARK
#undef LAST
}
