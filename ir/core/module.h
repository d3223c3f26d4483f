/* What a program is: kernels, graphs and entries, as ids into dense arrays.
 *
 * Everything a module holds is addressed by 32-bit ids: names (ir/support/intern.h), types, and,
 * within their graph, values, ops and blocks. Ranges such as an op's operands are (first, count) in
 * a pool. Ids stay valid when arrays grow; pointers into them do not.
 */
#ifndef IR_CORE_MODULE_H
#define IR_CORE_MODULE_H

#include "ir/core/attr.h"
#include "ir/core/entry.h"
#include "ir/core/graph.h"
#include "ir/core/type.h"
#include "ir/support/arena.h"
#include "ir/support/check.h"
#include "ir/support/diag.h"
#include "ir/support/ids.h"
#include "ir/support/intern.h"

#include <stdbool.h>
#include <stdint.h>

struct target {
    uint32_t name;
    uint32_t loc;
    struct range attrs;
};

/* A line that names another file, whose elements follow it in the order of the text. */
struct include {
    uint32_t path; /* name id, as it is written */
    uint32_t loc;
};

enum symbol_kind { SYMBOL_KERNEL, SYMBOL_GRAPH, SYMBOL_ENTRY, SYMBOL_KINDS };

struct op_types;
struct sk_options;

struct module {
    struct source *source;  /* may be NULL; not owned */
    struct threads threads; /* that may look at it at a time */
    struct intern names;
    VEC(struct type) types;
    uint32_t *type_slots; /* open addressing: type id + 1, for a fresh table is all 0 and free */
    uint32_t type_mask;
    VEC(int64_t) dims;
    uint32_t token; /* type id of tokens, or NONE before the first */
    VEC(struct attr) attrs;
    VEC(struct attr_value) attr_values;
    uint64_t keys[(W_COUNT + 63) / 64]; /* by word: it is or was the key of an attribute */
    VEC(struct target) targets;         /* a legal module has at most one */
    VEC(struct kernel) kernels;
    VEC(struct graph) graphs;
    VEC(struct entry) entries;
    struct id_map named[SYMBOL_KINDS]; /* by name: index of the first element of the kind */
    VEC(struct include) includes;
    VEC(uint64_t) order;              /* text order: see order_make */
    uint32_t loc;                     /* of the version line */
    struct id_map option_ids;         /* by name id of a text of options: the index in `options` */
    VEC(struct sk_options *) options; /* of block_options (ir/core/sk_options.h) */
    struct arena options_arena;
    struct op_types *op_types; /* of op_types_of (ir/optypes/op_types.h); NULL: not asked for yet */
    void (*free_op_types)(struct op_types *types);
};

/* What the text order has besides kernels, graphs and entries (enum symbol_kind). */
enum { ORDER_TARGET = SYMBOL_KINDS, ORDER_INCLUDE };

static inline uint64_t order_make(uint32_t index, unsigned kind)
{
    return (uint64_t)index << 3 | kind;
}

static inline unsigned order_kind(uint64_t item)
{
    return (unsigned)(item & 7);
}

static inline uint32_t order_index(uint64_t item)
{
    return (uint32_t)(item >> 3);
}

struct module *module_new(struct source *source);
void module_free(struct module *module);

/* A name as arguments for "%.*s" (ir/support/intern.h). */
#define NAME(module, id) SHOWN_NAME(&(module)->names.names[id])

uint32_t module_name(struct module *module, const char *text); /* interns a copy */
uint32_t module_name_printf(struct module *module, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Whether the name has this text. */
bool name_is(const struct module *module, uint32_t name, const char *text);
/* A NUL-terminated copy in the arena. */
char *name_text(const struct module *module, uint32_t name, struct arena *arena);

/* Of a name, and of others that may be meant by it. */
static inline struct suggest name_suggest(const struct module *module, uint32_t name)
{
    const struct intern_name *n = &module->names.names[name];
    return (struct suggest){.wanted = n->text, .wanted_size = n->size};
}

static inline void name_offer(struct suggest *suggest, const struct module *module, uint32_t name)
{
    suggest_offer(suggest, module->names.names[name].text, module->names.names[name].size);
}

/* Whether an attribute may have the key: false tells that none has. */
static inline bool module_may_have(const struct module *module, uint32_t key)
{
    return key >= W_COUNT || (module->keys[key / 64] >> key % 64 & 1);
}

/* To be called of each key that an attribute gets. */
static inline void module_note_key(struct module *module, uint32_t key)
{
    if (key < W_COUNT)
        module->keys[key / 64] |= UINT64_C(1) << key % 64;
}

/* The attribute of a range with this key, or NULL. Most keys that are asked for are those of few
 * ops: where there are none, the attributes are not looked at. */
static inline const struct attr *attr_find(const struct module *module, struct range attrs,
                                           uint32_t key)
{
    return module_may_have(module, key) ? attr_look_for(module, attrs, key) : NULL;
}

/* New elements at the end of the module; pointers are valid until the next one of their kind. */
struct kernel *module_add_kernel(struct module *module, uint32_t name, enum kernel_type type);
struct graph *module_add_graph(struct module *module, uint32_t name);
struct entry *module_add_entry(struct module *module, uint32_t name, enum kernel_type type);
/* Adds an entry that was made elsewhere; `*entry` is empty then. */
struct entry *module_take_entry(struct module *module, struct entry *entry);

/* An empty entry, which is none of a module. */
struct entry entry_make(uint32_t name, enum kernel_type type);

/* Takes out the graphs or entries that are marked, by index. Those that stay have other indices
 * then. */
void module_drop(struct module *module, enum symbol_kind kind, const uint8_t *gone);

/* The index of an element by its name, NONE where there is none. Names of a kind differ in a legal
 * module; of several elements with one name this is the first. */
static inline uint32_t module_find(const struct module *module, enum symbol_kind kind,
                                   uint32_t name)
{
    return id_map_find(&module->named[kind], name);
}

/* Whether what is at `loc` came by an include. Files that a foreign text names are none. */
static inline bool module_includes(const struct module *module, uint32_t loc)
{
    return module->source && module->source->language == SOURCE_SKIR && loc != NONE &&
           source_file_at(module->source, loc);
}

/* Whether a kernel, graph, entry or super kernel of any graph has the name. */
bool module_has_symbol(const struct module *module, uint32_t name);
/* The super kernels of all graphs: by name, the index of the first graph with it. To be freed. */
struct id_map module_superkernels(const struct module *module);

/* Which names are taken. */
struct taken_names {
    bool (*has)(const void *user, uint32_t name);
    const void *user;
};
/* The name itself, or one of it, `between` and a number, behind `last`, that is not taken. `last`
 * becomes the number: those that were given once need not be tried again. */
uint32_t module_free_name(struct module *module, uint32_t wanted, const char *between,
                          struct taken_names taken, uint32_t *last);
/* Such a name that no element of the module has. */
uint32_t module_free_symbol(struct module *module, uint32_t wanted, const char *between);

/* The element of a name, NULL where there is none. */
static inline struct kernel *module_find_kernel(const struct module *module, uint32_t name)
{
    uint32_t index = module_find(module, SYMBOL_KERNEL, name);
    return index == NONE ? NULL : &module->kernels.at[index];
}

static inline struct graph *module_find_graph(const struct module *module, uint32_t name)
{
    uint32_t index = module_find(module, SYMBOL_GRAPH, name);
    return index == NONE ? NULL : &module->graphs.at[index];
}

static inline struct entry *module_find_entry(const struct module *module, uint32_t name)
{
    uint32_t index = module_find(module, SYMBOL_ENTRY, name);
    return index == NONE ? NULL : &module->entries.at[index];
}

/* Name of the entry that is a super kernel's code: that of its attribute `entry`, or its own. The
 * module need not have it before lower-superkernels. */
uint32_t block_entry_name(const struct module *module, const struct block *block);

/* That entry; NULL where the module does not have it, and of a block that is no super kernel. */
static inline struct entry *block_entry(const struct module *module, const struct block *block)
{
    return block->kind == BLOCK_SUPERKERNEL
               ? module_find_entry(module, block_entry_name(module, block))
               : NULL;
}

/* The element of a name that the module has, as it has every kernel that a verified op or
 * instruction names. */
static inline struct kernel *module_kernel(const struct module *module, uint32_t name)
{
    return &module->kernels.at[id_map_get(&module->named[SYMBOL_KERNEL], name)];
}

static inline struct graph *module_graph(const struct module *module, uint32_t name)
{
    return &module->graphs.at[id_map_get(&module->named[SYMBOL_GRAPH], name)];
}

/* The index of an element of the module in its array. */
static inline uint32_t kernel_id(const struct module *module, const struct kernel *kernel)
{
    assert(kernel >= module->kernels.at && kernel < module->kernels.at + module->kernels.count);
    return (uint32_t)(kernel - module->kernels.at);
}

static inline uint32_t graph_id(const struct module *module, const struct graph *graph)
{
    assert(graph >= module->graphs.at && graph < module->graphs.at + module->graphs.count);
    return (uint32_t)(graph - module->graphs.at);
}

static inline uint32_t entry_id(const struct module *module, const struct entry *entry)
{
    assert(entry >= module->entries.at && entry < module->entries.at + module->entries.count);
    return (uint32_t)(entry - module->entries.at);
}

/* Core numbers of the target, those of the 910B die where the module has none. */
uint32_t module_cores(const struct module *module, enum core_type core);

/* How many results of an op are tensors: all but a token, which is the last of them. */
static inline uint32_t op_tensor_results(const struct module *module, const struct graph *graph,
                                         const struct op *op)
{
    uint32_t count = op->results.count;
    return count - (count > 0 && module->token != NONE &&
                    graph->values.at[op->results.first + count - 1].type == module->token);
}

/* How many values of an op are tensors: operands, those of lists one each, and results. */
static inline uint32_t op_tensors(const struct module *module, const struct graph *graph,
                                  const struct op *op)
{
    return op->operands.count + op_tensor_results(module, graph, op);
}

/* The default stream has the label "0", where one is written. In tables of labels it is NONE. */
static inline uint32_t stream_label(uint32_t name)
{
    return name == W_0 ? NONE : name;
}

#endif
