#include "ir/base/ids.h"

#include <string.h>

void id_map_grow(struct id_map *map, uint32_t key)
{
    assert(key != NONE && key >= map->count);
    vec_reserve(map, key - map->count + 1);
    memset(map->at + map->count, 0xff, (map->capacity - map->count) * sizeof *map->at);
    map->count = map->capacity;
}
