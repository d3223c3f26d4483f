/* Numbers by name, of which all are forgotten at once: for many graphs one after another, none of
 * which takes time for the names of others. */
#ifndef PASSES_INLINE_STAMPED_H
#define PASSES_INLINE_STAMPED_H

#include "ir/base/ids.h"

/* Zero-initialised is empty; stamped_begin comes before all else. */
struct stamped {
    struct stamped_number {
        uint32_t stamp, number;
    } * at;
    uint32_t count, capacity;
    uint32_t stamp; /* of what is set since the last stamped_begin */
};

/* Forgets all numbers. */
static inline void stamped_begin(struct stamped *map)
{
    map->stamp++;
}

static inline uint32_t stamped_find(const struct stamped *map, uint32_t name)
{
    bool set = name < map->count && map->at[name].stamp == map->stamp;
    return set ? map->at[name].number : NONE;
}

static inline void stamped_set(struct stamped *map, uint32_t name, uint32_t number)
{
    if (name >= map->count) {
        vec_reserve(map, name - map->count + 1);
        memset(map->at + map->count, 0, (map->capacity - map->count) * sizeof *map->at);
        map->count = map->capacity;
    }
    map->at[name] = (struct stamped_number){map->stamp, number};
}

static inline void stamped_free(struct stamped *map)
{
    vec_free(map);
}

#endif
