#include "frontend/golden/golden_grams.h"

#include <stdlib.h>
#include <string.h>

static uint32_t hash_part(const char *part)
{
    uint64_t word;
    _Static_assert(sizeof word == GRAM_SIZE, "a part is a word");
    memcpy(&word, part, sizeof word);
    return (uint32_t)((word * 0x9e3779b97f4a7c15) >> 32);
}

void grams_add(struct grams *grams, const char *text, uint32_t number)
{
    size_t size = strlen(text);
    for (size_t i = 0; i + GRAM_SIZE <= size; i++)
        vec_push(grams, (struct gram){hash_part(text + i), number});
}

static int compare_grams(const void *a, const void *b)
{
    const struct gram *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return x->text < y->text ? -1 : x->text > y->text;
}

void grams_sort(struct grams *grams)
{
    uint32_t kept = 0;
    if (grams->count)
        qsort(grams->at, grams->count, sizeof *grams->at, compare_grams);
    for (uint32_t i = 0; i < grams->count; i++)
        if (i == 0 || compare_grams(&grams->at[kept - 1], &grams->at[i]) != 0)
            grams->at[kept++] = grams->at[i];
    grams->count = kept;
}

/* The first one with this hash or a greater one. */
static uint32_t find_hash(const struct grams *grams, uint64_t hash)
{
    uint32_t low;
    bisect(low, i, grams->count, grams->at[i].hash < hash);
    return low;
}

bool grams_find(const struct grams *grams, const char *text, uint32_t *first, uint32_t *count)
{
    size_t size = strlen(text);
    *count = UINT32_MAX;
    for (size_t i = 0; i + GRAM_SIZE <= size; i++) {
        uint32_t hash = hash_part(text + i), begin = find_hash(grams, hash);
        uint32_t end = find_hash(grams, (uint64_t)hash + 1);
        if (end - begin >= *count)
            continue;
        *first = begin;
        *count = end - begin;
    }
    return size >= GRAM_SIZE;
}
