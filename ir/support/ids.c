#include "ir/support/ids.h"

#include <string.h>

static void clear_page(uint32_t *ids)
{
    memset(ids, 0xff, ID_MAP_PAGE * sizeof *ids); /* NONE */
}

uint32_t *id_map_grow(struct id_map *map, uint32_t key)
{
    uint32_t page = key / ID_MAP_PAGE;
    assert(key != NONE);
    if (page >= map->count) {
        vec_reserve(map, page - map->count + 1);
        memset(map->at + map->count, 0, (map->capacity - map->count) * sizeof *map->at);
        map->count = map->capacity;
    }
    assert(!map->at[page]);
    map->at[page] = mem_realloc(NULL, ID_MAP_PAGE, sizeof **map->at);
    clear_page(map->at[page]);
    return map->at[page];
}

uint32_t id_map_next(const struct id_map *map, uint32_t key)
{
    for (uint32_t page = key / ID_MAP_PAGE; page < map->count; page++) {
        const uint32_t *ids = map->at[page];
        for (uint32_t i = key % ID_MAP_PAGE; ids && i < ID_MAP_PAGE; i++)
            if (ids[i] != NONE)
                return page * ID_MAP_PAGE + i;
        key = 0;
    }
    return NONE;
}

void id_map_clear(struct id_map *map)
{
    for (uint32_t i = 0; i < map->count; i++)
        if (map->at[i])
            clear_page(map->at[i]);
}

void id_map_free(struct id_map *map)
{
    for (uint32_t i = 0; i < map->count; i++)
        mem_free(map->at[i]);
    vec_free(map);
}
