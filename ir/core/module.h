/* What a program is: kernels, graphs and entries, as ids into dense arrays.
 *
 * Everything a module holds is addressed by 32-bit ids: names (ir/support/intern.h), types, and,
 * within their graph, values, ops and blocks. Ranges such as an op's operands are (first, count) in
 * a pool. Ids stay valid when arrays grow; pointers into them do not.
 */
#ifndef IR_CORE_MODULE_H
#define IR_CORE_MODULE_H

#include "ir/core/entry.h"
#include "ir/support/arena.h"
#include "ir/support/check.h"
#include "ir/support/diag.h"
#include "ir/support/ids.h"
#include "ir/support/intern.h"

#include <stdbool.h>
#include <stdint.h>

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

/* ---------------------------------------------------------------------------- types ---- */

enum dtype {
#define DTYPE(name, ...) DTYPE_##name,
#include "ir/core/dtypes.def"
#undef DTYPE
    DTYPE_COUNT
};

enum dtype_class { CLASS_FLOAT, CLASS_SINT, CLASS_UINT, CLASS_BOOL, CLASS_COMPLEX, CLASS_HANDLE };

struct dtype_info {
    const char *name;
    unsigned bits;
    enum dtype_class class;
    const char *npy;
    bool host;
};
const struct dtype_info *dtype_info(enum dtype dtype);

/* The element type of a token, which is no tensor: an op's last result may be one, to be named by
 * `after`. It has no dimensions, no memory and no slot. */
#define DTYPE_TOKEN DTYPE_COUNT

/* `?`, an element type that is not known, which fits any. Its dtype_info has no bits and the class
 * of what is no number. */
#define DTYPE_UNKNOWN (DTYPE_COUNT + 1)

/* Dimensions are >= 0, DIM_UNKNOWN (`?`), or depend on names that a graph declares, by `dims` or
 * as gears: DIM_GEAR and the id of their normal text (ir/shapes/dims.h), which for one name is
 * the name. */
#define DIM_UNKNOWN ((int64_t)-1)
#define DIM_GEAR (INT64_MIN)

static inline bool dim_is_gear(int64_t dim)
{
    return dim < DIM_UNKNOWN;
}

static inline uint32_t dim_gear(int64_t dim)
{
    assert(dim_is_gear(dim));
    return (uint32_t)(dim - DIM_GEAR);
}

enum { MAX_RANK = 64 };

/* `[..]`: the number of dimensions is not known, nor is any of them. */
#define RANK_UNKNOWN UINT32_MAX

struct type {
    enum dtype dtype;
    uint32_t format; /* name id */
    uint32_t rank;   /* or RANK_UNKNOWN */
    uint32_t dims;   /* first of `rank` in module.dims */
};

/* How many dimensions can be looked at: none where the rank is not known. */
static inline uint32_t type_n_dims(const struct type *type)
{
    return type->rank == RANK_UNKNOWN ? 0 : type->rank;
}

/* ----------------------------------------------------------------------- attributes ---- */

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

/* --------------------------------------------------------------------------- graphs ---- */

/* Positions (`loc`) are byte offsets of a construct's first token in the source, or NONE for what
 * a pass made. Finer positions are found again by scanning from there (ir/syntax/locate.h). */

struct value {
    uint32_t name;
    uint32_t type; /* NONE: unresolved */
    uint32_t def;  /* op id, or DEF_PARAM, or DEF_MISSING */
};

#define DEF_PARAM (UINT32_MAX - 1) /* value ids below graph.n_params */
#define DEF_MISSING UINT32_MAX     /* used, but not defined before its use */

struct op {
    uint32_t type; /* name id */
    uint32_t loc;
    uint32_t block;        /* innermost enclosing block, or NONE */
    struct range operands; /* value ids in graph.refs; how they are written: ir/core/operands.h */
    struct range results;  /* consecutive value ids */
    struct range attrs;
    uint32_t kernel;  /* name id of `via @kernel`, or NONE */
    uint32_t clauses; /* index into graph.clauses; 0: none */
};

enum operand_kind { OPERAND_VALUE, OPERAND_NONE, OPERAND_LIST };

/* An operand as it is written. */
struct operand {
    enum operand_kind kind;
    uint32_t label;      /* name id, or NONE */
    struct range values; /* a part of the op's operands: one value, none, or those of the list */
};

/* The rarer parts of an op. */
struct clauses {
    struct range after;      /* value ids in graph.refs */
    struct range send, recv; /* event names in graph.refs */
    struct range forms;      /* in graph.forms; none where all operands are values without labels */
    bool untyped;            /* the types of results are not written: they follow from the op */
};

/* A super kernel may stand in several blocks. The first one is it; in others it goes on. */
enum block_kind {
    BLOCK_SCOPE,
    BLOCK_SCOPE_NONE,
    BLOCK_STREAM,
    BLOCK_SUPERKERNEL,
    BLOCK_SUPERKERNEL_REST,
};

struct block {
    enum block_kind kind;
    uint32_t name;   /* scope and super kernel: symbol; stream: label; others: NONE */
    uint32_t whole;  /* of BLOCK_SUPERKERNEL_REST: the BLOCK_SUPERKERNEL that goes on, before it */
    uint32_t parent; /* enclosing block, or NONE */
    uint32_t loc, end_loc;
    struct range attrs;
    struct range send, recv; /* of a super kernel: event names in graph.refs */
};

/* A graph's text order: ops, and where blocks open and close. */
enum item_kind { ITEM_OP, ITEM_OPEN, ITEM_CLOSE };

static inline uint64_t item_make(enum item_kind kind, uint32_t id)
{
    expensive_assert(id != NONE);
    return (uint64_t)id << 2 | kind;
}

static inline enum item_kind item_kind(uint64_t item)
{
    return (enum item_kind)(item & 3);
}

static inline uint32_t item_id(uint64_t item)
{
    return (uint32_t)(item >> 2);
}

enum gear_mode { GEARS_NONE, GEARS_ZIP, GEARS_PRODUCT };

struct gear {
    uint32_t name;
    uint32_t loc;
    struct range values; /* in graph.gear_values */
};

/* A row of the table that takes the place of a graph's statements once its gears are expanded: with
 * these values, in the order of graph.gears, it is another graph, which has no gears. */
struct gear_case {
    uint32_t graph; /* name id */
    uint32_t loc;
    struct range values; /* in graph.gear_values */
};

/* A name of `dims`. */
struct free_dim {
    uint32_t name;
    uint32_t loc;
};

struct param {
    uint32_t loc;
    struct range attrs;
};

struct graph {
    uint32_t name;
    uint32_t loc, end_loc, return_loc; /* return_loc NONE: there is no return */
    uint32_t n_params;                 /* values 0 .. n_params - 1 */
    struct range attrs;
    enum gear_mode gear_mode;
    bool untyped; /* some ops are */
    VEC(struct param) params;
    VEC(struct free_dim) dims;
    VEC(struct gear) gears;
    VEC(int64_t) gear_values;  /* of gears and cases */
    uint64_t gear_rows_out[2]; /* rows of its table that the graph contradicts (gears.h) */
    VEC(struct gear_case) cases;
    struct vec_u32 result_types;
    struct vec_u32 returns; /* value ids */
    VEC(struct value) values;
    VEC(struct op) ops;
    VEC(struct block) blocks;
    VEC(struct clauses) clauses;
    VEC(struct operand) forms;
    VEC(uint64_t) body;
    struct vec_u32 refs;
};

/* --------------------------------------------------------------------------- module ---- */

struct target {
    uint32_t name;
    uint32_t loc;
    struct range attrs;
};

/* A line that names another file, whose elements stand behind it in the order of the text. */
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

/* What stands in the text order besides kernels, graphs and entries (enum symbol_kind). */
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

/* The id of a type; `dims` are copied. With RANK_UNKNOWN they may be NULL. */
uint32_t module_type(struct module *module, enum dtype dtype, uint32_t format, const int64_t *dims,
                     uint32_t rank);
/* The id of the type of tokens. */
uint32_t module_token(struct module *module);
const int64_t *type_dims(const struct module *module, uint32_t type);
/* Number of elements. False where the rank is not known, a dimension is not static or the product
 * passes 2^62. */
bool type_elements(const struct module *module, uint32_t type, uint64_t *elements);
/* Whether dtype, rank and format of two types agree: each is equal or not known of one. A type of
 * which neither dtype nor rank is known says nothing of the format where it is ND. */
bool type_kinds_agree(const struct type *a, const struct type *b);

/* Whether the elements of a tensor of the format stand in memory in some order of its dimensions,
 * and nothing else does. */
bool format_is_plain(const struct module *module, uint32_t format);
/* Whether tensors of the format are to the host what those of ND are: ND, NCHW and the like. */
bool format_is_row_major(const struct module *module, uint32_t format);

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

const struct attr *attr_look_for(const struct module *module, struct range attrs, uint32_t key);
/* The attribute of a range with this key, or NULL. Most keys that are asked for are those of few
 * ops: where there are none, the attributes are not looked at. */
static inline const struct attr *attr_find(const struct module *module, struct range attrs,
                                           uint32_t key)
{
    return module_may_have(module, key) ? attr_look_for(module, attrs, key) : NULL;
}
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

/* Whether what stands at `loc` came by an include. Files that a foreign text names are none. */
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

/* The name that a block has in the text: where a super kernel goes on, that of its first block. */
static inline uint32_t block_name(const struct graph *graph, const struct block *block)
{
    return block->kind == BLOCK_SUPERKERNEL_REST ? graph->blocks.at[block->whole].name
                                                 : block->name;
}

static inline bool block_has_events(const struct block *block)
{
    return block->send.count + block->recv.count > 0;
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

/* The most blocks of a kernel type that the target has cores for. */
uint32_t module_blocks(const struct module *module, enum kernel_type type);
/* The blocks that a kernel's calls and launches need: its `block`, 1 where it has none; those of a
 * dynamic kernel, which come at run time, may be as many as the target allows. */
uint32_t kernel_blocks(const struct module *module, const struct kernel *kernel);
/* The bytes of workspace that a kernel needs for an op. False where that is not known. */
bool kernel_workspace(const struct module *module, const struct kernel *kernel,
                      const struct graph *graph, const struct op *op, uint64_t *bytes);
/* How many cores the launch of an entry has for the blocks of a kernel of a type; 0 where the entry
 * does not say how large it is. */
uint32_t entry_room(const struct module *module, const struct entry *entry, enum kernel_type type);

/* How many of a kernel's `params` are tensors, which all but `workspace` and `tiling` are; NONE
 * where it has no `params`. */
uint32_t kernel_n_tensors(const struct module *module, const struct kernel *kernel);
/* Puts the words of all of them into a list, in place of what is there; none without `params`. */
void kernel_tensors(const struct module *module, const struct kernel *kernel,
                    struct vec_u32 *words);
/* The word of the n-th of them. */
uint32_t kernel_tensor(const struct module *module, const struct kernel *kernel, uint32_t n);

/* Name id of the function that a kernel has for a core type, or NONE. */
uint32_t kernel_function(const struct module *module, const struct kernel *kernel,
                         enum core_type core);

/* Whether a kernel writes a dump, as words of its metadata's `debugOptions` say. */
bool kernel_writes_dump(const struct module *module, const struct kernel *kernel);

/* What a kernel was built to do itself (`early_start`), as words of its calls: EARLY_SET for `set`,
 * EARLY_WAIT_MIX for `wait`, whose calls say for what they wait; and what it vouches for. */
unsigned kernel_early_start(const struct module *module, const struct kernel *kernel);

/* Gives an op these clauses, in the place of what it had. */
void graph_set_clauses(struct graph *graph, uint32_t op, struct clauses clauses);

uint32_t graph_add_value(struct graph *graph, uint32_t name, uint32_t type, uint32_t def);
uint32_t graph_add_op(struct graph *graph, const struct op *op);
uint32_t graph_add_block(struct graph *graph, const struct block *block);
struct range graph_add_refs(struct graph *graph, const uint32_t *refs, uint32_t count);
void graph_add_item(struct graph *graph, enum item_kind kind, uint32_t id);
void graph_free(struct graph *graph);
/* A graph of its own with the same contents, whose ids are those of the same module. */
struct graph graph_copy(const struct graph *graph);
/* Leaves the parameters and what stands before the statements. */
void graph_clear_body(struct graph *graph);

/* NULL may stand for none. */
static inline const uint32_t *op_operands(const struct graph *graph, const struct op *op)
{
    return op->operands.count ? graph->refs.at + op->operands.first : NULL;
}

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

/* The n-th value of an op: those of its operands, then its results. */
static inline uint32_t op_tensor(const struct graph *graph, const struct op *op, uint32_t n)
{
    assert(n < op->operands.count + op->results.count);
    return n < op->operands.count ? op_operands(graph, op)[n]
                                  : op->results.first + (n - op->operands.count);
}

static inline const struct clauses *op_clauses(const struct graph *graph, const struct op *op)
{
    expensive_assert(op->clauses < graph->clauses.count);
    return &graph->clauses.at[op->clauses]; /* element 0 is empty */
}

/* Whether the types of an op's results are not written. Until they are inferred, they are NONE. */
static inline bool op_is_untyped(const struct graph *graph, const struct op *op)
{
    return op->clauses && op_clauses(graph, op)->untyped;
}

/* Whether `dims` or `gears` have the name. */
bool graph_declares_dim(const struct graph *graph, uint32_t name);
/* The innermost enclosing block of a kind, or NONE. BLOCK_SCOPE finds BLOCK_SCOPE_NONE too, and
 * where a super kernel goes on, its first block is found. */
uint32_t graph_enclosing(const struct graph *graph, uint32_t block, enum block_kind kind);
/* The super kernel that what stands in a block is of, by its first block, or NONE. What stands in
 * `scope none` inside a super kernel is of none: it runs beside that, and stands there only for the
 * order of the text (docs/language.md, "Super kernels"). */
uint32_t graph_superkernel(const struct graph *graph, uint32_t block);

/* The default stream has the label "0", where one is written. In tables of labels it is NONE. */
static inline uint32_t stream_label(uint32_t name)
{
    return name == W_0 ? NONE : name;
}

#endif
