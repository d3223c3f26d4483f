/* Regular expressions, matched in time proportional to the text times the pattern, whatever they
 * are: all ways of matching are followed at once. docs/testing.md has the form. */
#ifndef FRONTEND_GOLDEN_PATTERN_H
#define FRONTEND_GOLDEN_PATTERN_H

#include "ir/base/arena.h"

/* Lives in the arena that it was parsed into. */
struct pattern;

/* NULL, with one line of text, where the text is no pattern. */
const struct pattern *pattern_parse(struct arena *arena, const char *text, size_t size, char *error,
                                    size_t error_size);

/* Sets begins[p], for each p from 0 to `size`, to whether the pattern matches from p to any end q
 * with ends[q]. Both arrays have size + 1 elements, and may be the same. */
void pattern_begins(const struct pattern *pattern, const char *text, size_t size,
                    const uint8_t *ends, uint8_t *begins);

/* The largest q with ends[q] to which the pattern matches from `begin` on, but below `limit`;
 * SIZE_MAX where there is none. */
size_t pattern_end(const struct pattern *pattern, const char *text, size_t size, size_t begin,
                   const uint8_t *ends, size_t limit);

#endif
