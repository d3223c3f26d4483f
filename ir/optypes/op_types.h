/* What is known of op types: operands, results and what they have to do with each other, as data
 * (ir/optypes/ops, docs/op-types.md). An op of a type without data is checked only by its
 * kernel. */
#ifndef IR_OPTYPES_OP_TYPES_H
#define IR_OPTYPES_OP_TYPES_H

#include "ir/core/module.h"

#include <string.h>

/* How often a slot of an op may be filled: once; once or not at all; any number of times. */
enum op_presence { OP_REQUIRED, OP_OPTIONAL, OP_LISTED };

/* So that sets of slots are 64-bit masks; and so that what rules cost is bounded. */
enum { MAX_OP_SLOTS = 64, MAX_OP_ATTRS = 256, MAX_OP_RULES = 64 };

/* One operand or result of an op type, by its name. */
struct op_slot {
    const char *name;
    enum op_presence presence;
    uint64_t dtypes; /* a set, by enum dtype, of what it may be */
    uint32_t like;   /* what it may be, too: the dtype of the slot with this index; or NONE */
    uint32_t alias;  /* of a result: the operand that its memory is; or NONE */
    uint32_t by;     /* of a result: the attribute that is the number of its dtype; or NONE */
    bool reads;      /* of an operand: its contents are read */
    bool writes;     /* of an operand: its memory is written */
};

/* An attribute, its kind, and its value where an op does not have it. */
enum op_attr_kind {
    OP_ATTR_INT,
    OP_ATTR_FLOAT,
    OP_ATTR_BOOL,
    OP_ATTR_STRING,
    OP_ATTR_INTS,
    OP_ATTR_FLOATS,
    OP_ATTR_CONTENTS, /* of the result: ir/analysis/contents.h */
    OP_ATTR_KINDS
};

/* As op data writes it. */
const char *op_attr_kind_name(enum op_attr_kind kind);

struct op_attr {
    const char *name;
    enum op_attr_kind kind;
    const char *fallback;   /* as data has it; NULL: there is none, the op has to say it */
    const int64_t *numbers; /* that it is: of an int and a bool one, of ints n_numbers */
    uint32_t n_numbers;
};

/* An attribute that names a graph, or a list of graphs, that the op calls: parameters are these
 * operands of the op, all of each; results these results, or one truth value. Slots are indices of
 * op_type.slots. */
struct op_graph {
    const char *attr;
    bool listed;  /* a list of graphs, of which one is called */
    bool decides; /* its result is one bool, and no result of the op */
    uint32_t n_params, n_results;
    const uint32_t *params, *results;
};

/* A rule of shapes, or an expression (ir/optypes/op_rules.h). */
struct rule;

struct op_rule {
    const char *text;
    uint32_t slot; /* the slot whose shape it is; NONE: a condition, or a number */
    bool each;     /* it asks which element of the slot it is about */
    const struct rule *value;
};

struct op_type {
    const char *name;
    const char *real;   /* the name of the type that it is another name of; else its own */
    const char *family; /* the file that it stands in, without path and ending */
    const char *about;  /* one line for people; may be empty */
    uint32_t n_operands, n_results;
    const struct op_slot *slots; /* operands, then results */
    uint32_t n_attrs, n_graphs, n_shape, n_contents;
    const struct op_attr *attrs;
    const struct op_graph *graphs;
    bool passive;  /* executes nothing on a device (docs/language.md, "Order") */
    bool view;     /* results are operands seen otherwise; nothing has to be done */
    bool no_cores; /* its kernel runs on no AI cores (ir/analysis/modref.h) */
    const struct op_rule *shape;
    const struct op_content_rule *contents; /* those of an operand follow one another */
    struct op_rule flops, bytes;            /* `text` is NULL where nothing is said */
};

/* A rule of what stands in an operand. */
struct op_content_rule {
    uint32_t operand; /* a slot that is not listed, of integers that 64 bits with a sign have */
    struct op_rule rule;
    bool by_element; /* it speaks of the element that it is about */
};

/* A type's data, and what was read from it: NULL as long as nobody has asked. */
struct op_type_entry {
    const struct op_data *data;
    const struct op_type *type;
};

/* What a module knows of op types. The data of a type is read when it is first asked for, so a
 * part (ir/support/parts.h) that asks for one first is left. */
struct op_types {
    /* By name id of the module; op_type_unseen: not looked up yet. */
    const struct op_type **seen;
    uint32_t n_seen;
    struct intern names;
    VEC(struct op_type_entry) entries; /* by id of `names` */
    struct arena arena;
};

extern const struct op_type op_type_unseen;

/* What the module knows, made when it is first asked for; the module frees it. */
struct op_types *op_types_of(const struct module *module);
struct op_types *op_types_new(void);
void op_types_free(struct op_types *types);

struct file_fault;

/* Adds the types of a JSON text, which a private library has, with a NUL behind its end. `path` is
 * for faults, and its file for the family. A type that is known already must say the same. False,
 * with a fault, where something is wrong; types before it are added then. */
bool op_types_add(struct op_types *types, const char *path, const char *json, size_t size,
                  struct file_fault *fault);

/* The same of all files *.ops.json in a folder; a folder that cannot be read has none. */
bool op_types_add_folder(struct op_types *types, const char *folder, struct file_fault *fault);
/* Whether the name of a file is that of such data. */
bool op_types_is_file(const char *name);

/* The type of a text, or NULL where there is no data. Lasts as long as the table. */
const struct op_type *op_types_find(struct op_types *types, const char *name, size_t size);
/* All types, by number; NULL from the first number past the end. */
const struct op_type *op_types_at(struct op_types *types, uint32_t number);
/* Offers the names of all types. */
void op_types_offer(struct op_types *types, struct suggest *suggest);

/* Whether two names of the module are names of one type. */
bool op_type_agrees(const struct module *module, uint32_t a, uint32_t b);

/* What op_type_find does for a name that has not been looked up. */
const struct op_type *op_type_look_up(const struct module *module, uint32_t name);

/* The attribute of a type that may be NULL, by its name; NULL where there is none. */
static inline const struct op_attr *op_type_attr(const struct op_type *type, const char *name,
                                                 size_t size)
{
    for (uint32_t i = 0; type && i < type->n_attrs; i++)
        if (strlen(type->attrs[i].name) == size && memcmp(type->attrs[i].name, name, size) == 0)
            return &type->attrs[i];
    return NULL;
}

/* The type that a name of the module is, or NULL where there is no data. */
static inline const struct op_type *op_type_find(const struct module *module, uint32_t name)
{
    const struct op_types *types = module->op_types;
    if (types && name < types->n_seen && types->seen[name] != &op_type_unseen)
        return types->seen[name];
    return op_type_look_up(module, name);
}

/* Whether an op is not held to the data of its type: it is taken as if there were none, but for
 * what makes it passive. */
static inline bool op_is_unchecked(const struct module *module, const struct op *op)
{
    return op->attrs.count && attr_flag(module, op->attrs, W__unchecked);
}

/* The operand of a name, or NONE. */
uint32_t op_type_operand(const struct op_type *type, const char *name, size_t size);

/* Whether each element of a listed operand is an operand of its own: that is so of ops without a
 * kernel, for which a list would be one parameter. */
static inline bool op_type_spreads(const struct op_type *type)
{
    return type->passive || type->n_graphs > 0;
}

/* The operand that an op's operand without a label is for, by its place as written: what is past
 * the end belongs to the last operand, if that is listed. NONE: there is none for it. */
static inline uint32_t op_type_place(const struct op_type *type, uint32_t place)
{
    uint32_t last = type->n_operands - 1;
    if (place < type->n_operands)
        return place;
    return type->n_operands && type->slots[last].presence == OP_LISTED ? last : NONE;
}

/* The same for results: an index of op_type.slots. */
static inline uint32_t op_type_result(const struct op_type *type, uint32_t result)
{
    uint32_t last = type->n_operands + type->n_results - 1;
    if (result < type->n_results)
        return type->n_operands + result;
    return type->n_results && type->slots[last].presence == OP_LISTED ? last : NONE;
}

/* Declares a stub for ops of a type, of the core type that ops of such families and names run on,
 * on all blocks of the target. Returns its name: that of the type, or one like it that is free. */
uint32_t stub_kernel_declare(struct module *module, uint32_t op_type);

/* ---- numbers of data types ---- */

/* Whether GE has a data type of this number, as attributes of ops say them; `*dtype` is it, or
 * DTYPE_UNKNOWN where skir has none. */
bool ge_dtype_find(int64_t number, enum dtype *dtype);
/* All numbers are below this one. */
enum { GE_DTYPES_END = 64 };

#endif
