/* Which of many texts may have another one in them: by short parts of theirs. */
#ifndef FRONTEND_GOLDEN_GOLDEN_GRAMS_H
#define FRONTEND_GOLDEN_GOLDEN_GRAMS_H

#include "ir/base/vec.h"

/* Zero-initialised when empty. */
struct grams {
    struct gram {
        uint32_t hash; /* of a part, GRAM_SIZE bytes of the text */
        uint32_t text; /* the caller's number of it */
    } * at;
    uint32_t count, capacity;
};

enum { GRAM_SIZE = 8 };

/* Adds all parts of a text; when all texts are added, grams_sort() is called once. */
void grams_add(struct grams *grams, const char *text, uint32_t number);
void grams_sort(struct grams *grams);
/* The texts, in the order of their numbers, that have the part of `text` which the fewest have, and
 * maybe some others: all that `text` is in are among them. False where it is too short for that. */
bool grams_find(const struct grams *grams, const char *text, uint32_t *first, uint32_t *count);

#endif
