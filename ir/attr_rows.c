#include "ir/attr_rows.h"

const struct attr_row attr_rows[] = {
#define ATTR(owner, key, kind, low, high) {OWNER_##owner, W_##key, KIND_##kind, low, high},
#include "ir/attr_keys.def"
#undef ATTR
};

const size_t n_attr_rows = sizeof attr_rows / sizeof attr_rows[0];

const bool attr_owner_open[] = {
#define ATTR_OWNER(name, text, open) open,
#include "ir/attr_kinds.def"
};

const struct attr_row *attr_row_find(enum attr_owner owner, uint32_t key)
{
    for (size_t i = 0; i < n_attr_rows; i++)
        if (attr_rows[i].owner == owner && attr_rows[i].key == key)
            return &attr_rows[i];
    return NULL;
}
