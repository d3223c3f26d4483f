/* What writers share: protobuf text, pieces of text, places of ops, and nodes of foreign graphs. */
#ifndef FRONTEND_EXPORT_FOREIGN_H
#define FRONTEND_EXPORT_FOREIGN_H

#include "frontend/exchange.h"
#include "ir/core/module.h"
#include "ir/support/text.h"
#include "ir/syntax/print.h"

/* ---- Protobuf's text format, one field a line ---- */

struct proto_out {
    struct text *text;
    unsigned depth;
};

/* A message, up to proto_close. */
void proto_open(struct proto_out *out, const char *field);
void proto_close(struct proto_out *out);

/* Fields of each kind; the bytes of a string are escaped. */
void proto_put_string(struct proto_out *out, const char *field, const char *bytes, size_t size);
void proto_put_text(struct proto_out *out, const char *field, const char *text);
void proto_put_integer(struct proto_out *out, const char *field, int64_t number);
void proto_put_float(struct proto_out *out, const char *field, double number);
void proto_put_word(struct proto_out *out, const char *field, const char *word);

/* ---- Text that is handed on piece by piece while it is made ---- */

struct pieces {
    struct text text; /* what is not handed on yet */
    struct print_sink *sink;
    bool stopped; /* the sink wants no more */
};

enum { PIECES_SIZE = 1 << 16 };

/* Hands the text on where there is enough of it. Returns whether more is wanted. */
static inline bool pieces_next(struct pieces *pieces)
{
    if (pieces->text.size >= PIECES_SIZE && !pieces->stopped) {
        pieces->stopped = !pieces->sink->take(pieces->sink, pieces->text.at, pieces->text.size);
        pieces->text.size = 0;
    }
    return !pieces->stopped;
}

/* Hands on the rest. Returns whether the sink took everything. */
static inline bool pieces_end(struct pieces *pieces)
{
    bool complete =
        !pieces->stopped && (pieces->text.size == 0 ||
                             pieces->sink->take(pieces->sink, pieces->text.at, pieces->text.size));
    text_free(&pieces->text);
    return complete;
}

/* ---- Places of a graph's ops in its text, which formats of others number them by ---- */

struct op_places {
    uint32_t count;       /* of the ops in the text */
    uint32_t *of_op;      /* by op id: how many ops stand before it */
    uint32_t *ops;        /* by place: the op's id */
    struct range *blocks; /* by block id: the places of the ops inside, in inner blocks, too */
};

void op_places_init(struct op_places *places, const struct graph *graph);
void op_places_free(struct op_places *places);

/* Graphs on their way into formats of others, which have nodes of one or several outputs, and
 * attributes. What is common to these formats: names of nodes, and the attributes of GE that say
 * scope and stream. */

struct foreign_form {
    const char *name;
    bool value_names; /* values have names, not only the nodes that give them */
    bool (*says_value)(const struct module *module, const struct attr_value *value);
};

/* An attribute of GE that says of an op which scope or stream it is in. */
struct foreign_mark {
    const char *key;
    const char *text; /* NULL: a number */
    uint32_t size;
    int64_t number;
};

enum { FOREIGN_MARKS = 4 };

struct foreign {
    const struct module *module;
    const struct foreign_form *form;
    struct intern names; /* of nodes */
    struct text scratch;
    /* The graph at hand. */
    const struct graph *graph;
    uint32_t *op_names;     /* by op id: an id of `names`; NONE: the op's node has no name */
    uint32_t *param_names;  /* by value id */
    uint32_t return_name;   /* of the node that takes what is returned */
    uint32_t turn;          /* its number */
    struct id_map taken;    /* by id of `names`: the last graph's number that had it */
    struct id_map options;  /* by name id of the scope */
    struct id_map priority; /* by name id of the label: index in module->attrs */
};

void foreign_init(struct foreign *foreign, const struct module *module,
                  const struct foreign_form *form);
void foreign_free(struct foreign *foreign);
void foreign_begin_graph(struct foreign *foreign, const struct graph *graph);
void foreign_end_graph(struct foreign *foreign);

/* The name of the node of an op, a parameter, or of whatever defines a value; NULL where it has
 * none. */
const struct intern_name *foreign_op_name(const struct foreign *foreign, uint32_t op);
const struct intern_name *foreign_definer(const struct foreign *foreign, uint32_t value);
/* Which of its outputs a value is. */
uint32_t foreign_output(const struct foreign *foreign, uint32_t value);

/* The type of an op's node: such a type gets another name. */
void foreign_op_type(const struct foreign *foreign, const struct op *op, struct text *type);

/* Whether an attribute of an op, or (NULL) of a parameter can be one of the node. */
bool foreign_says_attr(const struct foreign *foreign, const struct op *op, const struct attr *attr);

/* Fills `marks`, and returns how many there are. */
uint32_t foreign_marks(const struct foreign *foreign, const struct op *op,
                       struct foreign_mark marks[FOREIGN_MARKS]);

/* Whether the module can be written; what is in the way is reported. */
bool foreign_fits(const struct foreign_form *form, const struct module *module,
                  struct diags *diags);

#endif
