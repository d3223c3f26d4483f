#include "ir/base/numbered.h"

/* How many numbers there may be in a table for each name in it, and for none. */
enum { NUMBERS_PER_NAME = 16, FIRST_NUMBERS = 64 };

struct numbered_series *numbered_series(struct numbered **numbered,
                                        const struct numbered_name *name)
{
    if (!*numbered)
        *numbered = mem_calloc(1, sizeof **numbered);
    struct numbered_series *slots = (*numbered)->slots;
    uint32_t at = numbered_slot(name->stem);
    while (slots[at].stem && slots[at].stem != name->stem)
        at = (at + 1) % NUMBERED_SLOTS;
    if (!slots[at].stem) {
        if ((*numbered)->count == NUMBERED_SERIES)
            return NULL;
        (*numbered)->count++;
        slots[at].stem = name->stem;
    }
    return &slots[at];
}

static void grow(struct numbered_series *series, uint32_t number)
{
    vec_reserve(&series->ids, number + 1 - series->ids.count);
    memset(series->ids.at + series->ids.count, 0,
           (series->ids.capacity - series->ids.count) * sizeof *series->ids.at);
    series->ids.count = series->ids.capacity;
}

bool numbered_take_far(struct numbered_series *series, const struct numbered_name *name,
                       uint32_t id)
{
    if (name->number / NUMBERS_PER_NAME > series->names + FIRST_NUMBERS / NUMBERS_PER_NAME) {
        series->sparse = true;
        return false;
    }
    grow(series, name->number);
    return numbered_take(series, name, id);
}

void numbered_free(struct numbered *numbered)
{
    for (uint32_t i = 0; numbered && i < NUMBERED_SLOTS; i++)
        vec_free(&numbered->slots[i].ids);
    mem_free(numbered);
}
