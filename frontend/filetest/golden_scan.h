/* Pieces of lines of golden files. */
#ifndef FRONTEND_FILETEST_GOLDEN_SCAN_H
#define FRONTEND_FILETEST_GOLDEN_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline bool scan_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Trims blanks at both ends of [*text, *text + *size). */
static inline void scan_trim(const char **text, size_t *size)
{
    while (*size && scan_is_blank(**text))
        ++*text, --*size;
    while (*size && scan_is_blank((*text)[*size - 1]))
        --*size;
}

static inline bool scan_take(const char **text, const char *end, const char *prefix)
{
    size_t size = strlen(prefix);
    if ((size_t)(end - *text) < size || memcmp(*text, prefix, size) != 0)
        return false;
    *text += size;
    return true;
}

/* A word: it ends at a blank or at the end. */
static inline bool scan_take_word(const char **text, const char *end, const char *word)
{
    const char *p = *text;
    if (!scan_take(&p, end, word) || (p < end && !scan_is_blank(*p)))
        return false;
    while (p < end && scan_is_blank(*p))
        p++;
    *text = p;
    return true;
}

/* Decimal digits; larger numbers count as UINT32_MAX. */
static inline bool scan_take_number(const char **text, const char *end, uint32_t *number)
{
    const char *p = *text;
    uint64_t n = 0;
    for (; p < end && *p >= '0' && *p <= '9'; p++)
        n = n < UINT32_MAX ? n * 10 + (uint64_t)(*p - '0') : n;
    if (p == *text)
        return false;
    *number = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
    *text = p;
    return true;
}

/* What follows `//!` on a line; NULL where it begins otherwise. */
static inline const char *scan_directive(const char *line, size_t size, size_t *rest)
{
    const char *text = line;
    if (!scan_take(&text, line + size, "//!"))
        return NULL;
    *rest = size - 3;
    scan_trim(&text, rest);
    return text;
}

#endif
