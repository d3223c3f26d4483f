/* Attributes: their values, the words that are keys, the rows of keys that skir gives a meaning
 * (attr_keys.def), and maps over the attributes of a graph. */
#ifndef IR_CORE_ATTR_H
#define IR_CORE_ATTR_H

#include "ir/support/arena.h"
#include "ir/support/check.h"
#include "ir/support/ids.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct graph;
struct module;

/* Ids of the words that are interned in every module, in this order. */
enum word {
#define KEYWORD(name) W_##name,
#define WORD(name)
#include "ir/core/words.def"
    W_KEYWORD_END,
    W_BEFORE_DTYPES = W_KEYWORD_END - 1,
#define DTYPE(name, ...) W_##name,
#include "ir/core/dtypes.def"
#undef DTYPE
    W_DTYPE_END,
    W_BEFORE_INSTRS = W_DTYPE_END - 1,
#define INSTR(name, ...) W_##name,
#include "ir/core/instrs.def"
#undef INSTR
    W_INSTR_END,
    W_BEFORE_WORDS = W_INSTR_END - 1,
#define KEYWORD(name)
#define WORD(name) W_##name,
#include "ir/core/words.def"
    W_COUNT
};

enum attr_kind {
    ATTR_INT,
    ATTR_FLOAT,
    ATTR_BOOL,
    ATTR_STRING, /* name id of the unescaped bytes */
    ATTR_WORD,   /* a bare word */
    ATTR_SYMBOL, /* @name */
    ATTR_VALUE,  /* %name; resolved where it is used */
    ATTR_TYPE,
    ATTR_LIST, /* first, count in module.attr_values; of an empty list, `first` is the word that
                * says of what it is (`[]:int`), or 0 */
    ATTR_DICT, /* first, count in module.attrs */
};

struct attr_value {
    uint32_t kind;
    uint32_t count;
    union {
        int64_t i;
        double f;
        uint32_t id;    /* STRING, WORD, SYMBOL, VALUE: name id; TYPE: type id */
        uint32_t first; /* LIST, DICT */
    };
};

struct attr {
    uint32_t key; /* name id */
    uint32_t loc;
    struct attr_value value;
};

const struct attr *attr_look_for(const struct module *module, struct range attrs, uint32_t key);
/* With a default where the attribute is absent or of another kind. */
int64_t attr_int(const struct module *module, struct range attrs, uint32_t key, int64_t absent);
bool attr_flag(const struct module *module, struct range attrs, uint32_t key);
uint32_t attr_string(const struct module *module, struct range attrs, uint32_t key); /* or NONE */
uint32_t attr_symbol(const struct module *module, struct range attrs, uint32_t key); /* or NONE */
/* Whether a list attribute has the bare word. */
bool attr_has_word(const struct module *module, struct range attrs, uint32_t key, uint32_t word);
/* The integers of a list, in the arena; NULL where there is something else in it. */
const int64_t *attr_list_ints(const struct module *module, const struct attr_value *list,
                              struct arena *arena);

/* Appends copies and returns their range. */
struct range module_add_attrs(struct module *module, const struct attr *attrs, uint32_t count);
struct range module_add_values(struct module *module, const struct attr_value *values,
                               uint32_t count);

/* ---- rows ---- */

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
bool attr_is_private(const struct module *module, uint32_t key);
bool attrs_are_private(const struct module *module, struct range attrs);

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
