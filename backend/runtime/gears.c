/* Graphs with gears: which combination a shape is. */
#include "backend/runtime/skrt.h"

#include <stdio.h>

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

/* Whether tensors of a shape have room in those of a combination. */
static bool has_room(const struct skrt_gears *gears, const int64_t *row, const int64_t *shape)
{
    for (uint32_t i = 0; i < gears->n_dims; i++)
        if (row[i] < shape[i])
            return false;
    return true;
}

const struct skrt_gear_case *skrt_gears_fit(const struct skrt_gears *gears, const int64_t *shape)
{
    const struct skrt_gear_case *best = NULL;
    for (uint32_t i = 0; i < gears->n_cases; i++) {
        const struct skrt_gear_case *row = &gears->cases[i];
        if (has_room(gears, row->shape, shape) && (!best || row->elements < best->elements))
            best = row;
    }
    return best;
}

/* The nearest values of a dimension below and above `wanted`, that itself if it is one. */
static void nearest(const struct skrt_gears *gears, uint32_t dim, int64_t wanted, int64_t *below,
                    int64_t *above)
{
    *below = INT64_MIN;
    *above = INT64_MAX;
    for (uint32_t i = 0; i < gears->n_cases; i++) {
        int64_t value = gears->cases[i].shape[dim];
        if (value <= wanted && value > *below)
            *below = value;
        if (value >= wanted && value < *above)
            *above = value;
    }
}

void skrt_gears_misfit(const struct skrt_gears *gears, const int64_t *shape, char *text,
                       size_t size)
{
    for (uint32_t i = 0; i < gears->n_dims; i++) {
        int64_t below, above;
        nearest(gears, i, shape[i], &below, &above);
        if (below == shape[i])
            continue;
        int n =
            snprintf(text, size, "dimension %u of '%s' is %lld, which no gear of '%s' makes: ",
                     gears->dims[i].dim, gears->dims[i].name, (long long)shape[i], gears->graph);
        size_t used = n < 0 || (size_t)n >= size ? size : (size_t)n;
        if (below != INT64_MIN && above != INT64_MAX)
            snprintf(text + used, size - used, "the nearest are %lld and %lld", (long long)below,
                     (long long)above);
        else
            snprintf(text + used, size - used, "the nearest is %lld",
                     (long long)(below != INT64_MIN ? below : above));
        return;
    }
    snprintf(text, size, "'%s' has no combination of gears with these dimensions", gears->graph);
}
