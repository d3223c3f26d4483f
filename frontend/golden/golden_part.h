/* Parts of what a command prints: `graph @g`, `entry @e, aiv`. */
#ifndef FRONTEND_GOLDEN_GOLDEN_PART_H
#define FRONTEND_GOLDEN_GOLDEN_PART_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of a text. */
struct part {
    const char *text;
    size_t size;
};

/* Narrows `*part` to the lines of the part that `path` names: words that a line begins with, from
 * that line to the one that begins with '}' as deep as it; behind a comma words of a line in
 * there. False where there is none; `*missing` is then what was looked for last. */
bool golden_find_part(struct part *part, const char *path, struct part *missing);

#endif
