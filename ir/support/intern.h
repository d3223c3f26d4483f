/* Names as small integers. Equal texts have equal ids; ids are dense from 0. Names that end in a
 * number, such as `v0`, `v1`, ..., are in tables by number, one a series; all others are hashed. */
#ifndef IR_SUPPORT_INTERN_H
#define IR_SUPPORT_INTERN_H

#include "ir/support/ids.h"

#include <endian.h>
#include <stdbool.h>

/* ---- Names that end in a number ---- */

/* At most 8 letters, digits, `_`, `.` and `$`: a stem that does not end in a digit, and a number as
 * printf writes it. */
struct numbered_name {
    uint64_t stem; /* its bytes, the last one highest, and 1 */
    uint32_t number;
};

/* Names with a stem, but for those that were too far ahead of the others when they came. Those may
 * be looked for elsewhere, which `sparse` tells. */
struct numbered_series {
    uint64_t stem; /* 0: there is none here */
    bool sparse;
    uint32_t names;     /* how many are in the table */
    struct vec_u32 ids; /* by number: id + 1, or 0 */
};

enum { NUMBERED_SLOTS = 256, NUMBERED_SERIES = 128, NUMBERED_SIZE = 8 };

/* The series that came first. Names of others are not numbered ones. */
struct numbered {
    uint32_t count;
    struct numbered_series slots[NUMBERED_SLOTS]; /* open addressing */
};

/* The number of 8 digits, the last one highest. */
static inline uint32_t numbered_value(uint64_t digits)
{
    const uint64_t ends = UINT64_C(0x000000ff000000ff);
    digits = digits * 10 + (digits >> 8);
    return (uint32_t)(((digits & ends) * (100 + (UINT64_C(1000000) << 32)) +
                       (digits >> 16 & ends) * (1 + (UINT64_C(10000) << 32))) >>
                      32);
}

/* Takes a name apart, which is the highest bytes of the word, the last one highest; below are
 * zeros, if anything. False where it is no numbered one. */
static inline bool numbered_split(uint64_t word, struct numbered_name *name)
{
    const uint64_t each = UINT64_C(0x0101010101010101);
    uint64_t digits = word ^ each * '0', others = digits & each * 0xf0; /* of all these, digits are
                                                                         * alone in having 3x */
    if (others >> 60 || others == 0)
        return false;
    unsigned bits = (unsigned)__builtin_clzll(others) & ~7u; /* of the digits: 8 to 56 */
    digits >>= 64 - bits;
    if ((digits & 0xff) == 0 && bits > 8)
        return false;
    name->number = numbered_value(digits << (64 - bits));
    name->stem = word << bits | 1;
    return true;
}

static inline uint32_t numbered_slot(uint64_t stem)
{
    return (uint32_t)((stem * UINT64_C(0x9e3779b97f4a7c15)) >> 56);
}

/* The series of a name; NULL where there is none. */
static inline struct numbered_series *numbered_find(struct numbered *numbered,
                                                    const struct numbered_name *name)
{
    if (!numbered)
        return NULL;
    uint32_t at = numbered_slot(name->stem);
    struct numbered_series *series = &numbered->slots[at];
    while (series->stem != name->stem) {
        if (!series->stem)
            return NULL;
        series = &numbered->slots[at = (at + 1) % NUMBERED_SLOTS];
    }
    return series;
}

/* What the tables have for a name: an id, or NONE. */
static inline uint32_t numbered_get(struct numbered *numbered, const struct numbered_name *name)
{
    const struct numbered_series *series = numbered_find(numbered, name);
    return series && name->number < series->ids.count ? series->ids.at[name->number] - 1 : NONE;
}

/* ---- Tables of names ---- */

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
    bool shared; /* parts (ir/support/parts.h) find what is there, but are left before they add */
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
