#include "ir/intern.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static uint64_t load(const char *p, size_t size)
{
    uint64_t word = 0;
    memcpy(&word, p, size);
    return word;
}

/* Multiply-and-fold over 8-byte words. */
static uint32_t hash_text(const char *p, size_t size)
{
    uint64_t h = 0x9e3779b97f4a7c15u ^ size;
    for (; size > 8; p += 8, size -= 8) {
        h = (h ^ load(p, 8)) * 0xd6e8feb86659fd93u;
        h ^= h >> 32;
    }
    h = (h ^ load(p, size)) * 0xd6e8feb86659fd93u;
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93u;
    return (uint32_t)(h ^ h >> 32);
}

static void grow(struct intern *intern)
{
    uint32_t size = intern->slots ? (intern->mask + 1) * 2 : 256;
    free(intern->slots);
    intern->slots = mem_calloc(size, sizeof *intern->slots);
    intern->mask = size - 1;
    for (uint32_t id = 0; id < intern->count; id++) {
        uint32_t at = intern->names[id].hash & intern->mask;
        while (intern->slots[at])
            at = (at + 1) & intern->mask;
        intern->slots[at] = id + 1;
    }
}

/* The slot that holds the text, or the free one where it belongs. */
static uint32_t *probe(const struct intern *intern, const char *text, size_t size, uint32_t hash)
{
    for (uint32_t at = hash & intern->mask;; at = (at + 1) & intern->mask) {
        uint32_t *slot = &intern->slots[at];
        if (!*slot)
            return slot;
        const struct intern_name *name = &intern->names[*slot - 1];
        if (name->hash == hash && name->size == size && memcmp(name->text, text, size) == 0)
            return slot;
    }
}

static uint32_t add(struct intern *intern, const char *text, size_t size, bool copy)
{
    /* At most three quarters of the slots are taken. */
    if (!intern->slots || intern->count >= intern->mask / 4 * 3)
        grow(intern);
    uint32_t hash = hash_text(text, size);
    uint32_t *slot = probe(intern, text, size, hash);
    if (*slot)
        return *slot - 1;
    if (intern->count == intern->capacity) {
        intern->capacity += intern->capacity / 2 + 256;
        intern->names = mem_realloc(intern->names, intern->capacity, sizeof *intern->names);
    }
    if (copy)
        text = arena_strndup(&intern->texts, text, size);
    intern->names[intern->count] = (struct intern_name){text, (uint32_t)size, hash};
    *slot = ++intern->count;
    return intern->count - 1;
}

uint32_t intern_static(struct intern *intern, const char *text, size_t size)
{
    return add(intern, text, size, false);
}

uint32_t intern_copy(struct intern *intern, const char *text, size_t size)
{
    return add(intern, text, size, true);
}

uint32_t intern_find(const struct intern *intern, const char *text, size_t size)
{
    if (!intern->slots)
        return INTERN_NONE;
    uint32_t slot = *probe(intern, text, size, hash_text(text, size));
    return slot ? slot - 1 : INTERN_NONE;
}

void intern_free(struct intern *intern)
{
    free(intern->names);
    free(intern->slots);
    arena_free(&intern->texts);
    *intern = (struct intern){0};
}
