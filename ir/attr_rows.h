/* The attributes that skir knows, as rows: ir/attr_keys.def. */
#ifndef IR_ATTR_ROWS_H
#define IR_ATTR_ROWS_H

#include "ir/module.h"

enum attr_owner {
#define ATTR_OWNER(name, text) OWNER_##name,
#include "ir/attr_kinds.def"
};

/* What the value may be. */
enum key_kind {
#define ATTR_KIND(name, predicate, text) KIND_##name,
#include "ir/attr_kinds.def"
};

struct attr_row {
    enum attr_owner owner;
    uint32_t key;
    enum key_kind kind;
    int64_t low, high; /* of its numbers */
};

extern const struct attr_row attr_rows[];
extern const size_t n_attr_rows;

/* NULL where owners of this sort have no such attribute. OWNER_OP: ops of every type may have it,
 * as it means something to skir itself. */
const struct attr_row *attr_row_find(enum attr_owner owner, uint32_t key);

#endif
