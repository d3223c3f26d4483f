/* Graphs with gears: which combination a shape is. */
#include "backend/runtime/skrt.h"

#include <stdio.h>
#include <string.h>

uint64_t skrt_gears_hash(const int64_t *shape, uint32_t n, uint64_t seed)
{
    uint64_t hash = seed;
    for (uint64_t i = n; i > 0; i--)
        hash = (hash ^ (uint64_t)shape[i - 1]) * UINT64_C(0x9e3779b97f4a7c15);
    return hash;
}

const struct skrt_gear_case *skrt_gears_find(const struct skrt_gears *gears, const int64_t *shape)
{
    uint64_t n = gears->n_dims;
    uint64_t hash = skrt_gears_hash(shape, (uint32_t)n, gears->seed);
    const struct skrt_gear_case *found = &gears->cases[gears->slots[hash >> gears->shift]];
    const int64_t *row = found->shape;
    while (n > 0 && row[n - 1] == shape[n - 1])
        n--;
    return n ? NULL : found;
}

const struct skrt_gear_case *skrt_gears_fit(const struct skrt_gears *gears, const int64_t *shape)
{
    const struct skrt_gear_case *best = NULL;
    for (uint32_t i = 0; i < gears->n_cases; i++) {
        const struct skrt_gear_case *row = &gears->cases[i];
        uint32_t n = 0; /* dimensions that have room */
        while (n < gears->n_dims && row->shape[n] >= shape[n])
            n++;
        if (n == gears->n_dims && (!best || row->elements < best->elements))
            best = row;
    }
    return best;
}

/* Whether a combination before this one has the same value of the dimension. */
static bool is_repeated(const struct skrt_gears *gears, uint32_t row, uint32_t dim)
{
    for (uint32_t i = 0; i < row; i++)
        if (gears->cases[i].shape[dim] == gears->cases[row].shape[dim])
            return true;
    return false;
}

static bool any_case_has(const struct skrt_gears *gears, uint32_t dim, int64_t value)
{
    for (uint32_t i = 0; i < gears->n_cases; i++)
        if (gears->cases[i].shape[dim] == value)
            return true;
    return false;
}

/* Appends the values of a dimension, as far as there is room. */
static void append_values(const struct skrt_gears *gears, uint32_t dim, char *text, size_t size)
{
    size_t used = strlen(text);
    const char *between = "";
    for (uint32_t i = 0; i < gears->n_cases && used + 1 < size; i++) {
        if (is_repeated(gears, i, dim))
            continue;
        snprintf(text + used, size - used, "%s%lld", between,
                 (long long)gears->cases[i].shape[dim]);
        used += strlen(text + used);
        between = ", ";
    }
}

void skrt_gears_misfit(const struct skrt_gears *gears, const int64_t *shape, char *text,
                       size_t size)
{
    for (uint32_t i = 0; i < gears->n_dims; i++) {
        if (any_case_has(gears, i, shape[i]))
            continue;
        snprintf(text, size, "dimension %u of '%s' is %lld, but the gears of '%s' make it ",
                 gears->dims[i].dim, gears->dims[i].name, (long long)shape[i], gears->graph);
        append_values(gears, i, text, size);
        return;
    }
    snprintf(text, size, "no combination of gears of '%s' has all of these dimensions",
             gears->graph);
}
