/* Names that end in a number, such as `v0`, `v1`, ..., each series of them in a table by number. */
#ifndef IR_BASE_NUMBERED_H
#define IR_BASE_NUMBERED_H

#include "ir/base/ids.h"

#include <endian.h>
#include <stdbool.h>

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

/* The series of a name, made where there is none; NULL where there are too many. */
struct numbered_series *numbered_series(struct numbered **numbered,
                                        const struct numbered_name *name);
/* Whether the series, which has none of the name, takes it with this id. */
bool numbered_take_far(struct numbered_series *series, const struct numbered_name *name,
                       uint32_t id);
static inline bool numbered_take(struct numbered_series *series, const struct numbered_name *name,
                                 uint32_t id)
{
    if (name->number >= series->ids.count)
        return numbered_take_far(series, name, id);
    series->ids.at[name->number] = id + 1;
    series->names++;
    return true;
}

void numbered_free(struct numbered *numbered);

#endif
