/* Operators of other systems as ops of GE. One table a source, one row an operator and a range of
 * its versions: what it becomes is either one op, which the row describes, or what a function of
 * the row makes. What no row covers is refused, with the reason. */
#ifndef FRONTEND_IMPORT_TRANSLATE_TRANSLATE_H
#define FRONTEND_IMPORT_TRANSLATE_TRANSLATE_H

#include "ir/optypes/op_types.h"
#include "ir/support/text.h"

/* Whose operators a dump has. */
enum dialect { DIALECT_GE, DIALECT_ONNX, DIALECT_TF, DIALECTS };

/* --------------------------------------------------------------------------- tables ---- */

/* What an attribute of an operator is. */
enum translation_kind {
    OF_INT,
    OF_FLOAT,
    OF_BOOL, /* of ONNX an integer */
    OF_TEXT,
    OF_INTS,
    OF_FLOATS,
    OF_DTYPE, /* becomes GE's number; fallbacks are skir's names */
    OF_ANY,   /* a dtype, graph or tensor */
    TRANSLATION_KINDS
};

/* An attribute of a row's operator. The rows have no others: a node that has one is refused. */
struct translation_attr {
    enum translation_kind kind;
    const char *name;     /* NULL: the source does not have it; the target gets `fallback` */
    const char *fallback; /* what it is where a node does not have it, as JSON has it, strings
                           * without quotes; NULL: the node has it, or it is absent */
    const char *target;   /* the attribute of the op that it becomes; NULL: none of its own */
    const char *allowed;  /* values that the row covers, separated by '|'; NULL: all */
};

enum { TRANSLATION_ATTRS = 10 };

struct translation;

struct translation_row {
    const char *op;
    int since, until; /* versions of the operator set, both included; `until` 0: up to the last */
    const char *to;   /* the op that it becomes, or, with `make`, for people */
    void (*make)(struct translation *t); /* NULL: the operands are those of `to`, in its order */
    struct translation_attr attrs[TRANSLATION_ATTRS]; /* ended by one without name and target */
    const char *about;                                /* for people: conditions and how; NULL */
};

/* Rows of one operator follow one another. Ended by a row without `op`. */
struct translation_table {
    const char *name;     /* as in the namespace of what is refused: "onnx.Foo" */
    const char *versions; /* what the versions of its operator set are called; NULL: there is one */
    int last; /* the newest version of the operator set that the rows were written for */
    const struct translation_row *const *families; /* ended by NULL */
    const char *const *implied; /* attributes that repeat what operands and results are, which rows
                                 * need not have; ended by NULL; NULL: none */
};

/* NULL of GE's own operators. */
const struct translation_table *translation_table(enum dialect dialect);

/* The first row of an operator, or NULL. */
const struct translation_row *translation_find(const struct module *module, enum dialect dialect,
                                               uint32_t type);

/* The attributes of a row end here. */
static inline bool translation_attr_is_end(const struct translation_attr *attr)
{
    return !attr->name && !attr->target;
}

/* Prints a table as Markdown. */
void translations_print(struct text *text, const struct translation_table *table);

/* ---------------------------------------------------------------------------- nodes ---- */

/* By value of a graph: 1 where its contents may change. Those that are not there do not. */
struct written_marks {
    uint8_t *at;
    uint32_t count, capacity;
};

/* What the translations of a module share. Zero-initialised but for the module is ready. */
struct translator {
    struct module *module;
    struct id_map rows[DIALECTS]; /* by name id of an operator: its first row, NO_ROWS if none */
    VEC(const struct translation_row *) found;
    struct arena arena; /* of the node at hand */
};

void translator_free(struct translator *translator);

/* A result of the node. */
struct translation_result {
    bool wanted;    /* something takes it */
    uint32_t type;  /* what the dump says of its type; NONE */
    uint32_t value; /* NONE: nothing gives it */
};

/* A node on its way. The caller fills the first part. */
struct translation {
    struct translator *translator;
    struct graph *graph; /* gets the ops */
    struct written_marks *written;
    enum dialect dialect;
    uint32_t type;   /* name id of the operator */
    int64_t version; /* of its operator set; 0: the dump does not say it */
    uint32_t loc, block;
    struct range attrs;
    const uint32_t *operands; /* values; NONE where one is absent */
    uint32_t n_operands;
    struct translation_result *results;
    uint32_t n_results;
    /* What comes of it. */
    struct text reason; /* why it was refused; empty: it was not */
    struct module *module;
    const struct translation_table *table;
    const struct translation_row *row;
    uint32_t first_op, first_value;
    VEC(struct attr) pending; /* attributes of the next op */
    uint32_t next_type;       /* type of its first result, where op data does not say it */
};

/* Appends the ops that the node becomes to the graph, outside of its body. The names of their
 * values are what is to be appended to the node's name, or, of results of the node, nothing in
 * particular. False, with a reason and the graph as it was, where no row covers the node. */
bool translate_node(struct translation *t);
void translation_free(struct translation *t);

#endif
