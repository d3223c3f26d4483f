/* Ids: dense 32-bit numbers that stand for things, NONE for nothing; and maps from ids to ids. */
#ifndef IR_BASE_IDS_H
#define IR_BASE_IDS_H

#include "ir/base/check.h"
#include "ir/base/vec.h"

enum { NONE = UINT32_MAX };

/* From the ids of one kind to those of another, NONE where nothing is set. It has room for the
 * largest key that was set, not for all that there are. Zero-initialised is empty. */
struct id_map {
    uint32_t *at;
    uint32_t count, capacity;
};

static inline uint32_t id_map_find(const struct id_map *map, uint32_t key)
{
    return key < map->count ? map->at[key] : NONE;
}

/* Of a key that is set. */
static inline uint32_t id_map_get(const struct id_map *map, uint32_t key)
{
    assert(key < map->count && map->at[key] != NONE);
    return map->at[key];
}

/* Makes room for a key that there is no room for. */
void id_map_grow(struct id_map *map, uint32_t key);

/* The place of a key, to be read and set; valid until another one's is asked for. */
static inline uint32_t *id_map_at(struct id_map *map, uint32_t key)
{
    if (key >= map->count)
        id_map_grow(map, key);
    return &map->at[key];
}

static inline void id_map_set(struct id_map *map, uint32_t key, uint32_t id)
{
    *id_map_at(map, key) = id;
}

/* Forgets a key that is set. */
static inline void id_map_unset(struct id_map *map, uint32_t key)
{
    expensive_assert(key < map->count);
    map->at[key] = NONE;
}

/* Forgets all keys. */
static inline void id_map_clear(struct id_map *map)
{
    map->count = 0;
}

static inline void id_map_free(struct id_map *map)
{
    vec_free(map);
}

#endif
