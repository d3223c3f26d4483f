/* Names as small integers. Equal texts have equal ids; ids are dense from 0. */
#ifndef IR_BASE_INTERN_H
#define IR_BASE_INTERN_H

#include "ir/base/ids.h"

#include <stdbool.h>

struct intern_name {
    const char *text; /* not NUL-terminated */
    uint32_t size;
    uint32_t hash;
};

struct intern {
    struct intern_name *names;
    uint32_t count, capacity;
    struct intern_slot {
        uint32_t id; /* + 1: a fresh table is all 0 and free */
        uint32_t hash;
    } * slots; /* a power of two of them */
    uint32_t mask;
    uint64_t key; /* of the hash; 0: the plain one */
    bool shared;  /* parts (ir/base/part.h) find what is there, but are left before they add */
    struct arena texts;
};

/* Makes room for about so many names, which saves growing. */
void intern_reserve(struct intern *intern, uint32_t count);
/* The id of the text. intern_static keeps a pointer to `text`, which must outlive the table. */
uint32_t intern_static(struct intern *intern, const char *text, size_t size);
uint32_t intern_copy(struct intern *intern, const char *text, size_t size);
/* The id, or NONE where the text was never interned. */
uint32_t intern_find(const struct intern *intern, const char *text, size_t size);
void intern_free(struct intern *intern);

#endif
