/* What helps look at in the text around a token that cannot be parsed. */
#ifndef IR_SYNTAX_SLIP_LOOKING_H
#define IR_SYNTAX_SLIP_LOOKING_H

#include "ir/syntax/slips.h"

#include <ctype.h>
#include <string.h>

static inline bool slip_is_name_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$';
}

/* The token before, if it is a word or name: from its first byte. */
static inline const char *slip_word_before(const struct slip *slip, const char *end)
{
    const char *begin = end;
    while (begin > slip->text && slip_is_name_byte(begin[-1]))
        begin--;
    return begin;
}

static inline bool slip_span_is(const char *begin, const char *end, const char *text)
{
    return (size_t)(end - begin) == strlen(text) && memcmp(begin, text, strlen(text)) == 0;
}

static inline bool slip_found(const struct slip *slip, const char *text)
{
    return slip_span_is(slip->begin, slip->end, text);
}

static inline bool slip_behind(const struct slip *slip, const char *text)
{
    size_t size = strlen(text);
    return (size_t)(slip->before - slip->text) >= size &&
           memcmp(slip->before - size, text, size) == 0 &&
           !((size_t)(slip->before - slip->text) > size && slip_is_name_byte(text[0]) &&
             slip_is_name_byte(slip->before[-(ptrdiff_t)size - 1]));
}

static inline bool slip_expects(const struct slip *slip, unsigned what)
{
    return (slip->expects & what) == what;
}

static inline bool slip_found_word(const struct slip *slip)
{
    return slip->begin < slip->end && (isalpha((unsigned char)*slip->begin) || *slip->begin == '_');
}

static inline const char *slip_skip_blanks(const struct slip *slip, const char *p)
{
    while (p < slip->limit && isspace((unsigned char)*p))
        p++;
    return p;
}

static inline const char *slip_skip_blanks_back(const struct slip *slip, const char *p)
{
    while (p > slip->text && isspace((unsigned char)p[-1]))
        p--;
    return p;
}

static inline char slip_last_byte(const struct slip *slip)
{
    return slip->before > slip->text ? slip->before[-1] : '\0';
}

/* The first byte behind the token that is no blank. */
static inline char slip_next_byte(const struct slip *slip)
{
    const char *p = slip_skip_blanks(slip, slip->end);
    return p < slip->limit ? *p : '\0';
}

#endif
