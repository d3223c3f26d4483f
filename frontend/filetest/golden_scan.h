/* Pieces of lines of golden files. */
#ifndef FRONTEND_FILETEST_GOLDEN_SCAN_H
#define FRONTEND_FILETEST_GOLDEN_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bytes of a text. */
struct part {
    const char *text;
    size_t size;
};

static inline bool scan_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Without the blanks at both ends. */
static inline struct part scan_trim(struct part part)
{
    for (; part.size && scan_is_blank(*part.text); part.text++)
        part.size--;
    while (part.size && scan_is_blank(part.text[part.size - 1]))
        part.size--;
    return part;
}

static inline struct part scan_skip(struct part part, size_t size)
{
    return (struct part){part.text + size, part.size - size};
}

static inline bool scan_is(struct part part, struct part other)
{
    return part.size == other.size &&
           (part.size == 0 || memcmp(part.text, other.text, part.size) == 0);
}

/* Each of these takes what it is about off the front of the part, or leaves it as it is. */

static inline bool scan_take(struct part *part, const char *prefix)
{
    size_t size = strlen(prefix);
    if (part->size < size || memcmp(part->text, prefix, size) != 0)
        return false;
    *part = scan_skip(*part, size);
    return true;
}

/* A word, which ends at a blank or at the end, and the blanks after it. */
static inline bool scan_take_word(struct part *part, const char *word)
{
    struct part rest = *part;
    if (!scan_take(&rest, word) || (rest.size && !scan_is_blank(*rest.text)))
        return false;
    *part = scan_trim(rest);
    return true;
}

/* Decimal digits; larger numbers count as UINT32_MAX. */
static inline bool scan_take_number(struct part *part, uint32_t *number)
{
    uint64_t n = 0;
    size_t digits = 0;
    for (; digits < part->size && part->text[digits] >= '0' && part->text[digits] <= '9'; digits++)
        n = n < UINT32_MAX ? n * 10 + (uint64_t)(part->text[digits] - '0') : n;
    if (digits == 0)
        return false;
    *number = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
    *part = scan_skip(*part, digits);
    return true;
}

/* A line, which is set without its end. */
static inline bool scan_take_line(struct part *part, struct part *line)
{
    if (part->size == 0)
        return false;
    const char *end = memchr(part->text, '\n', part->size);
    *line = (struct part){part->text, end ? (size_t)(end - part->text) : part->size};
    *part = scan_skip(*part, line->size + (end != NULL));
    return true;
}

/* Whether a line begins with `//!`; `*rest` is what follows. */
static inline bool scan_directive(struct part line, struct part *rest)
{
    bool is = scan_take(&line, "//!");
    if (is)
        *rest = scan_trim(line);
    return is;
}

#endif
