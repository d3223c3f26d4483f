/* "Did you mean": the most similar of several names. */
#ifndef IR_BASE_SUGGEST_H
#define IR_BASE_SUGGEST_H

#include <stddef.h>
#include <string.h>

/* Zero-initialised apart from the wanted name, and from what is written before and behind names of
 * this kind ("@", "=VALUE"; NULL is nothing). Offer candidates, then read `best`, or say it. */
struct suggest {
    const char *wanted;
    size_t wanted_size;
    const char *before, *behind;
    const char *best; /* NULL where none is similar enough */
    size_t best_size;
    unsigned distance;
};

void suggest_offer(struct suggest *suggest, const char *name, size_t size);

static inline void suggest_offer_text(struct suggest *suggest, const char *name)
{
    suggest_offer(suggest, name, strlen(name));
}

/* "did you mean 'BEST'?", empty where there is no best. Names that are suggested are short, and so
 * is what stands around them. */
struct suggest_text {
    char text[128];
};
struct suggest_text suggest_text(const struct suggest *suggest);
/* The same as the end of a message: behind "; ". */
struct suggest_text suggest_end(const struct suggest *suggest);

#endif
