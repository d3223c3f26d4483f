#include "ir/intern.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Up to 8 bytes as a number. The sizes are told apart so that each copy is a plain load. */
static inline uint64_t load(const char *p, size_t size)
{
    uint64_t word = 0;
    uint32_t half = 0;
    if (size == 8) {
        memcpy(&word, p, 8);
        return word;
    }
    if (size >= 4) {
        memcpy(&half, p + size - 4, 4);
        word = half;
        memcpy(&half, p, 4);
        return word << 32 | half;
    }
    for (size_t i = 0; i < size; i++)
        word = word << 8 | (unsigned char)p[i];
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
    uint32_t size = intern->slots ? (intern->mask + 1) * 2 : 512;
    free(intern->slots);
    intern->slots = mem_calloc(size, sizeof *intern->slots);
    intern->mask = size - 1;
    for (uint32_t id = 0; id < intern->count; id++) {
        uint32_t at = intern->names[id].hash & intern->mask;
        while (intern->slots[at].id)
            at = (at + 1) & intern->mask;
        intern->slots[at] = (struct intern_slot){id + 1, intern->names[id].hash};
    }
}

/* Most names are short: a call would cost more than the comparison. */
static inline bool same_bytes(const char *a, const char *b, size_t size)
{
    if (size > 16)
        return memcmp(a, b, size) == 0;
    for (; size >= 8; a += 8, b += 8, size -= 8)
        if (load(a, 8) != load(b, 8))
            return false;
    while (size > 0 && *a == *b)
        a++, b++, size--;
    return size == 0;
}

/* The slot that holds the text, or the free one where it belongs. */
static inline struct intern_slot *probe(const struct intern *intern, const char *text, size_t size,
                                        uint32_t hash)
{
    for (uint32_t at = hash & intern->mask;; at = (at + 1) & intern->mask) {
        struct intern_slot *slot = &intern->slots[at];
        if (!slot->id)
            return slot;
        if (slot->hash != hash)
            continue;
        const struct intern_name *name = &intern->names[slot->id - 1];
        if (name->size == size && same_bytes(name->text, text, size))
            return slot;
    }
}

static uint32_t add(struct intern *intern, const char *text, size_t size, bool copy)
{
    /* At most half of the slots are taken. */
    if (!intern->slots || intern->count >= intern->mask / 2)
        grow(intern);
    uint32_t hash = hash_text(text, size);
    struct intern_slot *slot = probe(intern, text, size, hash);
    if (slot->id)
        return slot->id - 1;
    if (intern->count == intern->capacity) {
        intern->capacity += intern->capacity / 2 + 256;
        intern->names = mem_realloc(intern->names, intern->capacity, sizeof *intern->names);
    }
    if (copy)
        text = arena_strndup(&intern->texts, text, size);
    intern->names[intern->count] = (struct intern_name){text, (uint32_t)size, hash};
    *slot = (struct intern_slot){++intern->count, hash};
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
    uint32_t id = probe(intern, text, size, hash_text(text, size))->id;
    return id ? id - 1 : INTERN_NONE;
}

void intern_free(struct intern *intern)
{
    free(intern->names);
    free(intern->slots);
    arena_free(&intern->texts);
    *intern = (struct intern){0};
}
