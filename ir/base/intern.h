/* Names as small integers. Equal texts have equal ids; ids are dense from 0. */
#ifndef IR_BASE_INTERN_H
#define IR_BASE_INTERN_H

#include "ir/base/numbered.h"

#include <stdbool.h>

struct intern_name {
    const char *text; /* not NUL-terminated */
    uint32_t size;
    uint32_t hash; /* 0 of a numbered name */
};

struct intern {
    struct intern_name *names;
    uint32_t count, capacity;
    struct intern_slot {
        uint32_t id; /* + 1: a fresh table is all 0 and free */
        uint32_t hash;
    } * slots; /* a power of two of them */
    uint32_t mask;
    uint32_t hashed;           /* names that are in the slots */
    struct numbered *numbered; /* the others; NULL: none */
    uint64_t key;              /* of the hash; 0: the plain one */
    bool shared; /* parts (ir/base/part.h) find what is there, but are left before they add */
    struct arena texts;
};

/* Makes room for so many names, which saves growing. */
void intern_reserve(struct intern *intern, uint32_t count);
/* The id of the text. intern_static keeps a pointer to `text`, which must outlive the table. */
uint32_t intern_static(struct intern *intern, const char *text, size_t size);
uint32_t intern_copy(struct intern *intern, const char *text, size_t size);
/* Of intern_plain: what is not in the tables of numbered names. */
uint32_t intern_other(struct intern *intern, const char *text, size_t size,
                      const struct numbered_name *numbered);
/* As intern_static, of letters, digits, `_`, `.` and `$`, fast where the name ends in a number and
 * is not at the end of the text that it stands in, which is at `limit`. */
static inline uint32_t intern_plain(struct intern *intern, const char *text, size_t size,
                                    const char *limit)
{
    uint64_t word;
    struct numbered_name name;
    if (size > NUMBERED_SIZE || limit - text < NUMBERED_SIZE)
        return intern_static(intern, text, size);
    memcpy(&word, text, sizeof word);
    if (!numbered_split(le64toh(word) << (NUMBERED_SIZE - size) * 8, &name))
        return intern_other(intern, text, size, NULL);
    uint32_t id = numbered_get(intern->numbered, &name);
    return id != NONE ? id : intern_other(intern, text, size, &name);
}
/* The id, or NONE where the text was never interned. */
uint32_t intern_find(const struct intern *intern, const char *text, size_t size);
void intern_free(struct intern *intern);

/* Some texts of a table that come again and again: ids + 1, or 0. It lives no longer than they. */
struct intern_recent {
    uint32_t ids[64];
};

/* Where the text is, if it is. Alike are those of one size and with one byte in the middle. */
static inline uint32_t *intern_recent_at(struct intern_recent *recent, const char *text,
                                         size_t size)
{
    return &recent->ids[(size ^ (unsigned char)text[size / 2] * 5u) % 64];
}

/* The id, or NONE where it is another text that was put there. */
static inline uint32_t intern_recent_get(const struct intern *intern, const uint32_t *at,
                                         const char *text, size_t size)
{
    if (*at == 0)
        return NONE;
    const struct intern_name *name = &intern->names[*at - 1];
    return name->size == size && memcmp(name->text, text, size) == 0 ? *at - 1 : NONE;
}

/* ---- Names in messages ---- */

/* A name as arguments for "%.*s", which would end at a NUL: one that has such is written with the
 * escapes of strings, and cut off where it is long. That text stays until as many other names as a
 * message may have are written by the same thread. */
#define SHOWN_NAME(name) shown_size(name), shown_text(name)

int shown_size(const struct intern_name *name);
const char *shown_text(const struct intern_name *name);

#endif
