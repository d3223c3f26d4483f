/* Lines with regular expressions and names in double braces, and what the names stand for. */
#ifndef FRONTEND_FILETEST_TEMPLATE_H
#define FRONTEND_FILETEST_TEMPLATE_H

#include "ir/support/text.h"

#include <regex.h>

/* What a name stands for. */
struct capture {
    const char *name, *value;
    size_t size; /* of the value */
};

/* The last one of a name counts, so that taking the last ones off undoes a match. */
struct captures {
    struct capture *at;
    uint32_t count, capacity;
};

const struct capture *captures_find(const struct captures *captures, const char *name);

struct template_piece {
    const char *text; /* literal text; NULL: a regular expression or a name */
    size_t size;
    const char *name;  /* NULL: the text it matches has no name */
    const char *regex; /* NULL: a name without one */
    uint32_t groups;   /* of parentheses in `regex` */
    uint32_t group;    /* its own; 0: literal text, a known name or a back reference */
};

struct template
{
    struct template_piece *pieces; /* in the arena that it was parsed into */
    uint32_t count;
    uint32_t regexes; /* how many of them are not literal */
    /* The whole as one regular expression, with the names that were known when it was last used. */
    struct text source;
    regex_t compiled; /* of `source`, if that is not empty */
};

/* False, with one line of text, if a regular expression is wrong. */
bool template_parse(struct template *template, struct arena *arena, const char *text, size_t size,
                    char *error, size_t error_size);
void template_free(struct template *template);

/* Whether the template matches the line (`whole`), or a part of it. If so, adds what its names are
 * to `captures`; the values point into the line. Names that are known already match their own
 * text. */
bool template_matches(struct template *template, const char *line, size_t size, bool whole,
                      struct captures *captures);

#endif
