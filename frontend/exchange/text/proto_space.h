/* What stands between the tokens of protobuf's text, and within strings: the larger part of most
 * texts. A NUL stands behind the end of the text, and of the bytes before it some are looked at
 * together. */
#ifndef FRONTEND_EXCHANGE_TEXT_PROTO_SPACE_H
#define FRONTEND_EXCHANGE_TEXT_PROTO_SPACE_H

#include "ir/base/bytes16.h"
#include "frontend/exchange/text/proto_text.h"

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
static inline const char *skip_blanks(const struct proto_text *proto, const char *at)
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

/* Whether a backslash and this letter are an escape, wherever what it stands for may end. */
static inline bool is_short_escape(char letter)
{
    switch (letter) {
    case 'a':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
    case 'v':
    case '?':
    case '"':
    case '\'':
    case '\\': return true;
    default: return letter >= '0' && letter <= '7';
    }
}

/* From the first backslash of a string on. */
static __attribute__((noinline)) const char *skip_escapes(const struct proto_text *proto,
                                                          const char *at, char quote)
{
    while (*at == '\\' && is_short_escape(at[1]))
        at = find_string_end(proto, at + 2, quote);
    return *at == quote ? at + 1 : NULL;
}

/* Behind a string at `start`, if it is one that is not at the end of the text and has no other
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

#endif
