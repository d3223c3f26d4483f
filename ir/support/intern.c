#include "ir/support/intern.h"
#include "ir/support/escapes.h"
#include "ir/support/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- Names that end in a number ---- */

/* How many numbers there may be in a table for each name in it, and for none. */
enum { NUMBERS_PER_NAME = 16, FIRST_NUMBERS = 64 };

/* The series of a name, made where there is none; NULL where there are too many. */
static struct numbered_series *numbered_series(struct numbered **numbered,
                                               const struct numbered_name *name)
{
    if (!*numbered)
        *numbered = mem_calloc(1, sizeof **numbered);
    struct numbered_series *slots = (*numbered)->slots;
    uint32_t at = numbered_slot(name->stem);
    while (slots[at].stem && slots[at].stem != name->stem)
        at = (at + 1) % NUMBERED_SLOTS;
    if (slots[at].stem)
        return &slots[at];
    if ((*numbered)->count == NUMBERED_SERIES)
        return NULL;
    (*numbered)->count++;
    slots[at].stem = name->stem;
    return &slots[at];
}

/* Whether the series, which has none of the name, takes it with this id: not where the number is
 * too far ahead of the names that are there. */
static bool numbered_take(struct numbered_series *series, const struct numbered_name *name,
                          uint32_t id)
{
    if (name->number >= series->ids.count) {
        if (name->number / NUMBERS_PER_NAME > series->names + FIRST_NUMBERS / NUMBERS_PER_NAME) {
            series->sparse = true;
            return false;
        }
        vec_reserve(&series->ids, name->number + 1 - series->ids.count);
        memset(series->ids.at + series->ids.count, 0,
               (series->ids.capacity - series->ids.count) * sizeof *series->ids.at);
        series->ids.count = series->ids.capacity;
    }
    series->ids.at[name->number] = id + 1;
    series->names++;
    return true;
}

/* ---- Names that are hashed ---- */

enum {
    /* To the next slot to try: the same place in the next group, so that names that are in the way
     * of each other's group move as a whole. Odd, so that every slot is tried in the end. */
    STEP = 257,
    MIN_SLOTS = 512,
};

/* Up to 8 bytes as a number, different for different bytes of one size. The sizes are told apart so
 * that each copy is a plain load. */
static inline uint64_t load(const char *p, size_t size)
{
    uint64_t word = 0;
    uint32_t low, high;
    if (size == 8) {
        memcpy(&word, p, 8);
    } else if (size >= 4) {
        memcpy(&low, p, 4);
        memcpy(&high, p + size - 4, 4);
        word = (uint64_t)high << 32 | low;
    } else if (size > 0) {
        word = (uint64_t)(unsigned char)p[0] << 16 | (uint64_t)(unsigned char)p[size / 2] << 8 |
               (unsigned char)p[size - 1];
    }
    return word;
}

/* The halves of a 128-bit product, one upon the other: each bit depends on all of `h`. */
static inline uint64_t fold(uint64_t h)
{
    unsigned __int128 product = (unsigned __int128)h * 0xd6e8feb86659fd93u;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t hash_bytes(const char *p, size_t size, uint64_t h)
{
    h *= 0x9e3779b97f4a7c15u;
    for (; size > 8; p += 8, size -= 8)
        h = fold(h ^ load(p, 8));
    return fold(h ^ load(p, size));
}

/* Names are often numbers in turn, used near each other. The low halves of the last two bytes only
 * choose the place in a group of 256 slots: %v1200 to %v1299 share half a page, and %v1230 to
 * %v1239 two cache lines, which %v1240 to %v1249 follow. */
static inline __attribute__((always_inline)) uint32_t hash_text(const char *p, size_t size)
{
    unsigned last = size > 0 ? (unsigned char)p[size - 1] : 0;
    unsigned before = size > 1 ? (unsigned char)p[size - 2] : 0;
    size_t rest = size > 1 ? size - 2 : 0;
    uint64_t h = (uint64_t)size << 8 | (before & 0xf0) | last >> 4;
    uint32_t low = (uint32_t)hash_bytes(p, rest, h);
    return (low & ~255u) | ((low + (before << 4)) & 0xf0) | ((low ^ last) & 15);
}

static bool is_plain(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
           c == '.' || c == '$';
}

/* Takes apart what may be in the table of a series. */
static bool read_numbered(const char *text, size_t size, struct numbered_name *name)
{
    uint64_t word = 0;
    if (size == 0 || size > NUMBERED_SIZE || (unsigned char)(text[size - 1] - '0') > 9)
        return false;
    for (size_t i = 0; i < size; i++) {
        if (!is_plain(text[i]))
            return false;
        word = word >> 8 | (uint64_t)(unsigned char)text[i] << 56;
    }
    return numbered_split(word, name);
}

/* Whether a name is in the table of a series, and not in the slots. */
static bool is_numbered(const struct intern *intern, uint32_t id)
{
    const struct intern_name *name = &intern->names[id];
    struct numbered_name numbered;
    return name->hash == 0 && read_numbered(name->text, name->size, &numbered) &&
           numbered_get(intern->numbered, &numbered) == id;
}

/* The old slots are cleared and used again: memory that was touched before costs least. */
static void slots_resize(struct intern *intern, uint32_t size)
{
    intern->slots = mem_realloc(intern->slots, size, sizeof *intern->slots);
    intern->mask = size - 1;
    memset(intern->slots, 0, size * sizeof *intern->slots);
    for (uint32_t id = 0; id < intern->count; id++) {
        if (is_numbered(intern, id))
            continue;
        uint32_t at = intern->names[id].hash & intern->mask;
        while (intern->slots[at].id)
            at = (at + STEP) & intern->mask;
        intern->slots[at] = (struct intern_slot){id + 1, intern->names[id].hash};
    }
}

void intern_reserve(struct intern *intern, uint32_t count)
{
    if (count <= intern->capacity)
        return;
    intern->names = mem_realloc(intern->names, count, sizeof *intern->names);
    intern->capacity = count;
}

/* Most names are short: a call would cost more than the comparison. */
static inline bool same_bytes(const char *a, const char *b, size_t size)
{
    if (size > 16)
        return memcmp(a, b, size) == 0;
    return size <= 8 ? load(a, size) == load(b, size)
                     : load(a, 8) == load(b, 8) && load(a + size - 8, 8) == load(b + size - 8, 8);
}

/* The slot that holds the text, or the free one where it belongs. */
static inline struct intern_slot *probe(const struct intern *intern, const char *text, size_t size,
                                        uint32_t hash)
{
    for (uint32_t at = hash & intern->mask;; at = (at + STEP) & intern->mask) {
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

static inline uint32_t add_name(struct intern *intern, const char *text, size_t size, uint32_t hash,
                                bool copy)
{
    uint32_t id = intern->count;
    if (id == intern->capacity)
        intern_reserve(intern, intern->capacity + intern->capacity / 2 + 256);
    if (copy)
        text = arena_strndup(&intern->texts, text, size);
    intern->count++;
    intern->names[id] = (struct intern_name){text, (uint32_t)size, hash};
    return id;
}

static uint32_t find_hashed(const struct intern *intern, const char *text, size_t size)
{
    if (!intern->slots)
        return NONE;
    uint32_t id = probe(intern, text, size, hash_text(text, size))->id;
    return id ? id - 1 : NONE;
}

static uint32_t add_hashed(struct intern *intern, const char *text, size_t size, bool copy)
{
    /* At most five of eight slots are taken; without slots, the mask is 0. */
    if (intern->hashed >= intern->mask / 8 * 5)
        slots_resize(intern, intern->slots ? (intern->mask + 1) * 2 : MIN_SLOTS);
    uint32_t hash = hash_text(text, size);
    struct intern_slot *slot = probe(intern, text, size, hash);
    if (slot->id)
        return slot->id - 1;
    uint32_t id = add_name(intern, text, size, hash, copy);
    intern->hashed++;
    *slot = (struct intern_slot){id + 1, hash};
    return id;
}

/* Where the table of its series has none of the name yet. Those that a series does not take are
 * hashed, as are names of other series. */
static uint32_t add_numbered(struct intern *intern, const char *text, size_t size,
                             const struct numbered_name *name, bool copy)
{
    struct numbered_series *series = numbered_find(intern->numbered, name);
    if (!series)
        series = numbered_series(&intern->numbered, name);
    if (!series)
        return add_hashed(intern, text, size, copy);
    uint32_t id = series->sparse ? find_hashed(intern, text, size) : NONE;
    if (id != NONE)
        return id;
    if (!numbered_take(series, name, intern->count))
        return add_hashed(intern, text, size, copy);
    return add_name(intern, text, size, 0, copy);
}

/* What is not in the tables; `numbered` is the name's parts, or NULL. */
static inline uint32_t add_other(struct intern *intern, const char *text, size_t size,
                                 const struct numbered_name *numbered, bool copy)
{
    if (intern->shared && part_runs()) {
        uint32_t id = find_hashed(intern, text, size);
        if (id == NONE)
            part_leave();
        return id;
    }
    return numbered ? add_numbered(intern, text, size, numbered, copy)
                    : add_hashed(intern, text, size, copy);
}

static inline uint32_t add(struct intern *intern, const char *text, size_t size, bool copy)
{
    struct numbered_name name;
    bool numbered = read_numbered(text, size, &name);
    uint32_t id = numbered ? numbered_get(intern->numbered, &name) : NONE;
    return id != NONE ? id : add_other(intern, text, size, numbered ? &name : NULL, copy);
}

uint32_t intern_other(struct intern *intern, const char *text, size_t size,
                      const struct numbered_name *numbered)
{
    return add_other(intern, text, size, numbered, false);
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
    struct numbered_name name;
    uint32_t id = NONE;
    if (read_numbered(text, size, &name))
        id = numbered_get(intern->numbered, &name);
    return id != NONE ? id : find_hashed(intern, text, size);
}

void intern_free(struct intern *intern)
{
    mem_free(intern->names);
    mem_free(intern->slots);
    for (uint32_t i = 0; intern->numbered && i < NUMBERED_SLOTS; i++)
        vec_free(&intern->numbered->slots[i].ids);
    mem_free(intern->numbered);
    arena_free(&intern->texts);
    *intern = (struct intern){0};
}

/* ---- Names in messages ---- */

/* Of one message; the escapes of a name that is longer are not shown to their end. */
enum { NAMES = 8, MOST = 256 };

static _Thread_local char texts[NAMES][MOST];
static _Thread_local unsigned next;

static bool has_nul(const struct intern_name *name)
{
    return name->size > 0 && memchr(name->text, '\0', name->size);
}

/* Writes it with escapes; returns how much of that there is room for. */
static size_t escape(const struct intern_name *name, char *to)
{
    struct text text = {NULL, 0, 0};
    escape_put(&text, name->text, name->size, ESCAPE_HEX);
    size_t size = text.size < MOST ? text.size : MOST;
    memcpy(to, text.at, size);
    text_free(&text);
    return size;
}

int shown_size(const struct intern_name *name)
{
    char text[MOST];
    return (int)(has_nul(name) ? escape(name, text) : name->size);
}

const char *shown_text(const struct intern_name *name)
{
    if (!has_nul(name))
        return name->text;
    char *text = texts[next++ % NAMES];
    escape(name, text);
    return text;
}
