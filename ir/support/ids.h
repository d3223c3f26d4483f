/* Ids: dense 32-bit numbers that stand for things, NONE for nothing; and maps from ids to ids. */
#ifndef IR_SUPPORT_IDS_H
#define IR_SUPPORT_IDS_H

#include "ir/support/check.h"
#include "ir/support/vec.h"

enum { NONE = UINT32_MAX };

/* Of a pool: module.attrs, or another one where a comment says so. */
struct range {
    uint32_t first, count;
};

enum { ID_MAP_PAGE = 256 };

/* From the ids of one kind to those of another, NONE where nothing is set. It has room for pages of
 * keys of which one was set, not for all that there are. Zero-initialised is empty. */
struct id_map {
    uint32_t **at; /* pages of ID_MAP_PAGE keys each, NULL where none was set */
    uint32_t count, capacity;
};

static inline uint32_t id_map_find(const struct id_map *map, uint32_t key)
{
    const uint32_t *page = key / ID_MAP_PAGE < map->count ? map->at[key / ID_MAP_PAGE] : NULL;
    return page ? page[key % ID_MAP_PAGE] : NONE;
}

/* Of a key that is set. */
static inline uint32_t id_map_get(const struct id_map *map, uint32_t key)
{
    assert(id_map_find(map, key) != NONE);
    return map->at[key / ID_MAP_PAGE][key % ID_MAP_PAGE];
}

/* Makes a page for a key that has none. */
uint32_t *id_map_grow(struct id_map *map, uint32_t key);

/* The place of a key, to be read and set; it stays where it is. */
static inline uint32_t *id_map_at(struct id_map *map, uint32_t key)
{
    uint32_t *page = key / ID_MAP_PAGE < map->count ? map->at[key / ID_MAP_PAGE] : NULL;
    return (page ? page : id_map_grow(map, key)) + key % ID_MAP_PAGE;
}

static inline void id_map_set(struct id_map *map, uint32_t key, uint32_t id)
{
    *id_map_at(map, key) = id;
}

/* Forgets a key. */
static inline void id_map_unset(struct id_map *map, uint32_t key)
{
    if (id_map_find(map, key) != NONE)
        map->at[key / ID_MAP_PAGE][key % ID_MAP_PAGE] = NONE;
}

/* The first key from `key` on that is set, or NONE. */
uint32_t id_map_next(const struct id_map *map, uint32_t key);

/* Forgets all keys. */
void id_map_clear(struct id_map *map);

void id_map_free(struct id_map *map);

#endif
