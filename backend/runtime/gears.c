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

/* How far a case is from a shape: how many dimensions are others, and by how much together. */
struct distance {
    uint32_t dims;
    uint64_t size; /* at most UINT64_MAX */
};

static struct distance distance_to(const struct skrt_gears *gears, uint32_t index,
                                   const int64_t *shape)
{
    struct distance distance = {0, 0};
    for (uint32_t i = 0; i < gears->n_dims; i++) {
        int64_t value = gears->cases[index].shape[i];
        uint64_t by = value > shape[i] ? (uint64_t)value - (uint64_t)shape[i]
                                       : (uint64_t)shape[i] - (uint64_t)value;
        distance.dims += by != 0;
        if (__builtin_add_overflow(distance.size, by, &distance.size))
            distance.size = UINT64_MAX;
    }
    return distance;
}

/* The case that differs in the fewest dimensions, of those by the least, and of those the first. */
static uint32_t nearest_case(const struct skrt_gears *gears, const int64_t *shape)
{
    uint32_t best = 0;
    struct distance least = distance_to(gears, 0, shape);
    for (uint32_t i = 1; i < gears->n_cases; i++) {
        struct distance distance = distance_to(gears, i, shape);
        if (distance.dims > least.dims ||
            (distance.dims == least.dims && distance.size >= least.size))
            continue;
        best = i;
        least = distance;
    }
    return best;
}

/* Each dimension is that of some case, but no case has all of them. */
static void misfit_together(const struct skrt_gears *gears, const int64_t *shape, char *text,
                            size_t size)
{
    const int64_t *near = gears->cases[nearest_case(gears, shape)].shape;
    uint32_t i = 0;
    while (i + 1 < gears->n_dims && near[i] == shape[i])
        i++;
    snprintf(text, size,
             "dimension %u of '%s' is %lld, which no combination of gears of '%s' has with the "
             "other dimensions: the nearest has %lld",
             gears->dims[i].dim, gears->dims[i].name, (long long)shape[i], gears->graph,
             (long long)near[i]);
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
    if (gears->n_dims > 0)
        misfit_together(gears, shape, text, size);
    else
        snprintf(text, size, "'%s' has no combination of gears", gears->graph);
}
