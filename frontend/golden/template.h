/* Lines with patterns and captures in double braces, and what they have captured. */
#ifndef FRONTEND_GOLDEN_TEMPLATE_H
#define FRONTEND_GOLDEN_TEMPLATE_H

#include "frontend/golden/pattern.h"
#include "ir/base/vec.h"

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
    const char *text; /* that stands there; NULL: a pattern or a name */
    size_t size;
    const char *name;              /* NULL: a pattern that captures nothing */
    const struct pattern *pattern; /* NULL: a name without one */
};

/* Lives in the arena that it was parsed into. */
struct template
{
    struct template_piece *pieces;
    uint32_t count;
    uint32_t patterns; /* how many of them are no texts */
};

/* False, with one line of text, where a pattern is none. */
bool template_parse(struct template *template, struct arena *arena, const char *text, size_t size,
                    char *error, size_t error_size);

/* Whether the line is (`whole`), or has in it, what the template says. If so, what its names stand
 * for is added to `captures`; the values point into the line. Names that stand for something
 * already are that text. `arena` is for the work. */
bool template_matches(const struct template *template, const char *line, size_t size, bool whole,
                      struct captures *captures, struct arena *arena);

#endif
