/* Attributes: the rows of those that skir gives a meaning (ir/core/attr_keys.def), and maps over
 * the attributes of a graph. */
#ifndef IR_CORE_ATTRS_H
#define IR_CORE_ATTRS_H

#include "ir/core/module.h"

enum attr_owner {
#define ATTR_OWNER(name, ...) OWNER_##name,
#include "ir/core/attr_kinds.def"
    OWNER_COUNT
};

/* What the value may be. */
enum key_kind {
#define ATTR_KIND(name, holds, text) KIND_##name,
#include "ir/core/attr_kinds.def"
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

/* Whether owners of this sort may have any attributes besides those of the rows. */
extern const bool attr_owner_open[];

static inline bool attr_owner_is_open(enum attr_owner owner)
{
    assert((unsigned)owner < OWNER_COUNT);
    return attr_owner_open[owner];
}

/* Whether a key begins with `_`: such attributes may stand everywhere, and are passed to no kernel
 * unless a row says what they mean. */
static inline bool attr_is_private(const struct module *module, uint32_t key)
{
    const struct intern_name *name = &module->names.names[key];
    return name->size > 0 && name->text[0] == '_';
}

static inline bool attrs_are_private(const struct module *module, struct range attrs)
{
    for (uint32_t i = 0; i < attrs.count; i++)
        if (!attr_is_private(module, module->attrs.at[attrs.first + i].key))
            return false;
    return true;
}

/* A copy of attributes with one more, in the place of that of its key if there is one. */
struct range attrs_with(struct module *module, struct range attrs, struct attr attr);

/* ---- maps, in which something else takes the place of types or symbols ---- */

struct attr_map {
    struct module *module;
    /* Changes a type or symbol, and says whether it has. */
    bool (*change)(struct attr_map *map, struct attr_value *value);
    void *user;
};

/* Of all ops, blocks and parameters of a graph, and its own: those where something changes are new
 * ones, so that other graphs keep theirs. */
void attr_map_graph(struct attr_map *map, struct graph *graph);

#endif
