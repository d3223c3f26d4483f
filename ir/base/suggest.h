/* "Did you mean": the most similar of several names. */
#ifndef IR_BASE_SUGGEST_H
#define IR_BASE_SUGGEST_H

#include <stddef.h>

/* Zero-initialised apart from the wanted name; offer candidates, then read `best`. */
struct suggest {
    const char *wanted;
    size_t wanted_size;
    const char *best; /* NULL where none is similar enough */
    size_t best_size;
    unsigned distance;
};

void suggest_offer(struct suggest *suggest, const char *name, size_t size);

#endif
