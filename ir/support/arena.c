#include "ir/support/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct arena_chunk {
    struct arena_chunk *older;
    size_t capacity;
    _Alignas(max_align_t) char bytes[];
};

void *arena_alloc(struct arena *arena, size_t size)
{
    const size_t align = _Alignof(max_align_t);
    if (size > SIZE_MAX / 2)
        mem_exhausted();
    size = (size + align - 1) & ~(align - 1);
    struct arena_chunk *chunk = arena->chunks;
    if (!chunk || chunk->capacity - arena->used < size) {
        size_t capacity = chunk ? chunk->capacity * 2 : 4096;
        if (capacity > 1 << 20)
            capacity = 1 << 20;
        if (capacity < size)
            capacity = size;
        chunk = mem_realloc(NULL, 1, sizeof *chunk + capacity);
        *chunk = (struct arena_chunk){.older = arena->chunks, .capacity = capacity};
        arena->chunks = chunk;
        arena->used = 0;
    }
    void *p = chunk->bytes + arena->used;
    arena->used += size;
    return p;
}

char *arena_strndup(struct arena *arena, const char *text, size_t size)
{
    char *copy = arena_alloc(arena, size + 1);
    memcpy(copy, text, size);
    copy[size] = '\0';
    return copy;
}

char *arena_vprintf(struct arena *arena, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, args);
    if (size < 0) /* more than can be counted */
        mem_exhausted();
    char *text = arena_alloc(arena, (size_t)size + 1);
    vsnprintf(text, (size_t)size + 1, format, again);
    va_end(again);
    return text;
}

char *arena_path(struct arena *arena, const char *folder, const char *name)
{
    size_t before = strlen(folder), size = strlen(name) + 1;
    char *path = arena_alloc(arena, before + 1 + size);
    memcpy(path, folder, before);
    path[before] = '/';
    memcpy(path + before + 1, name, size);
    return path;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}

static void free_chunks(struct arena_chunk *chunk)
{
    for (struct arena_chunk *older; chunk; chunk = older) {
        older = chunk->older;
        mem_free(chunk);
    }
}

/* The newest chunk, of which not all is used, stays so. */
void arena_merge(struct arena *arena, struct arena *other)
{
    struct arena_chunk **end = arena->chunks ? &arena->chunks->older : &arena->chunks;
    struct arena_chunk **last = &other->chunks;
    if (!arena->chunks)
        arena->used = other->used;
    while (*last)
        last = &(*last)->older;
    *last = *end;
    *end = other->chunks;
    *other = (struct arena){NULL, 0};
}

/* The newest chunk is the largest, but for those that one piece alone is in. */
void arena_clear(struct arena *arena)
{
    arena->used = 0;
    if (!arena->chunks)
        return;
    free_chunks(arena->chunks->older);
    arena->chunks->older = NULL;
}

void arena_free(struct arena *arena)
{
    free_chunks(arena->chunks);
    *arena = (struct arena){NULL, 0};
}
