#include "backend/linker/internal.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool object_fail(struct object_error *error, const char *format, ...)
{
    if (error->set)
        return false;
    error->set = true;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    for (unsigned char *p = (unsigned char *)error->text; *p; p++)
        if (*p < 0x20 || *p == 0x7f)
            *p = '?';
    return false;
}

void *object_alloc(struct object_arena *arena, size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total))
        mem_exhausted();
    return memset(arena_alloc(&arena->memory, total), 0, total);
}

void *object_copy(struct object_arena *arena, const void *bytes, size_t size)
{
    void *copy = arena_alloc(&arena->memory, size);
    if (size > 0)
        memcpy(copy, bytes, size);
    return copy;
}

struct object_map_slot {
    uint64_t hash, scope;
    const char *name; /* NULL: free */
    void *value;
};

/* FNV-1a, with a final mix so that the low bits depend on all others. */
static uint64_t hash_name(uint64_t scope, const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ (scope * UINT64_C(0x9e3779b97f4a7c15));
    for (const unsigned char *p = (const unsigned char *)name; *p; p++)
        hash = (hash ^ *p) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 32;
}

/* The slot of the key, or the free one where it belongs. The table is never full. */
static struct object_map_slot *map_find(const struct object_map *map, uint64_t hash, uint64_t scope,
                                        const char *name)
{
    size_t mask = map->capacity - 1;
    assert(map->count < map->capacity && (map->capacity & mask) == 0);
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        struct object_map_slot *slot = &map->slots[i];
        if (!slot->name ||
            (slot->hash == hash && slot->scope == scope && strcmp(slot->name, name) == 0))
            return slot;
    }
}

static void map_grow(struct object_map *map)
{
    struct object_map grown = {NULL, map->capacity ? map->capacity * 2 : 64, map->count};
    grown.slots = mem_calloc(grown.capacity, sizeof *grown.slots);
    for (size_t i = 0; i < map->capacity; i++) {
        struct object_map_slot *slot = &map->slots[i];
        if (slot->name)
            *map_find(&grown, slot->hash, slot->scope, slot->name) = *slot;
    }
    mem_free(map->slots);
    *map = grown;
}

void *object_map_get(const struct object_map *map, uint64_t scope, const char *name)
{
    if (map->count == 0)
        return NULL;
    return map_find(map, hash_name(scope, name), scope, name)->value;
}

void **object_map_at(struct object_map *map, uint64_t scope, const char *name)
{
    if (map->count >= map->capacity / 2)
        map_grow(map);
    uint64_t hash = hash_name(scope, name);
    struct object_map_slot *slot = map_find(map, hash, scope, name);
    if (!slot->name) {
        *slot = (struct object_map_slot){hash, scope, name, NULL};
        map->count++;
    }
    return &slot->value;
}

void object_map_free(struct object_map *map)
{
    mem_free(map->slots);
    *map = (struct object_map){NULL, 0, 0};
}

uint32_t object_strings_add(struct object_strings *strings, struct object_error *error,
                            const char *text)
{
    size_t size = strlen(text) + 1;
    void **place = object_map_at(&strings->map, 0, text);
    if (*place) /* offsets are kept off by one: NULL is "none yet" */
        return (uint32_t)((uintptr_t)*place - 1);
    if (strings->bytes.size == 0)
        text_char(&strings->bytes, '\0');
    size_t offset = size == 1 ? 0 : strings->bytes.size;
    if (offset + size > UINT32_MAX) {
        object_fail(error, "the names of the result are too long");
        return 0;
    }
    if (offset)
        text_bytes(&strings->bytes, text, size);
    *place = (void *)(uintptr_t)(offset + 1);
    return (uint32_t)offset;
}

void object_strings_free(struct object_strings *strings)
{
    object_map_free(&strings->map);
    text_free(&strings->bytes);
}
