/* Words of lists that are patterns (ir/sk_options.h). */
#include "ir/sk_options.h"

#include <string.h>

bool sk_option_is_pattern(const char *word, size_t size)
{
    return size && (memchr(word, '.', size) || memchr(word, '*', size));
}

/* Places of a pattern: place p is reached where what stands before it takes the word so far. */
struct places {
    const char *pattern;
    size_t size;
    uint8_t *reached;
};

static bool is_repeated(const struct places *places, size_t p)
{
    return p + 1 < places->size && places->pattern[p + 1] == '*';
}

/* What is repeated may stand for nothing. */
static void skip_repeated(struct places *places)
{
    for (size_t p = 0; p < places->size; p++)
        if (places->reached[p] && is_repeated(places, p))
            places->reached[p + 2] = true;
}

/* The word is longer by a character. */
static void take(struct places *places, char c)
{
    for (size_t p = places->size + 1; p-- > 0;) {
        bool here = places->reached[p];
        places->reached[p] = false;
        if (here && p < places->size && (places->pattern[p] == '.' || places->pattern[p] == c))
            places->reached[is_repeated(places, p) ? p : p + 1] = true;
    }
    skip_repeated(places);
}

bool sk_option_fits(const char *pattern, size_t pattern_size, const char *word, size_t size)
{
    if (!sk_option_is_pattern(pattern, pattern_size))
        return pattern_size == size && memcmp(pattern, word, size) == 0;
    struct places places = {pattern, pattern_size, mem_calloc(pattern_size + 1, 1)};
    places.reached[0] = true;
    skip_repeated(&places);
    for (size_t i = 0; i < size; i++)
        take(&places, word[i]);
    bool fits = places.reached[pattern_size];
    mem_free(places.reached);
    return fits;
}
