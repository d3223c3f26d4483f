/* Messages of protobuf text by tables: a row a field, with what its value becomes. The walk through
 * a message stores what rows say, and gives the reader the fields that need more. Also what readers
 * share: lists of values on their way into a module, contents of tensors, calls of graphs. */
#ifndef FRONTEND_IMPORT_MESSAGES_H
#define FRONTEND_IMPORT_MESSAGES_H

#include "frontend/import/dump/dump.h"
#include "frontend/import/dump/types.h"
#include "frontend/import/text/proto_text.h"

#include <stddef.h>

/* Values of lists that are not closed: a list is what follows some element. */
struct value_stack {
    struct attr_value *at;
    uint32_t count, capacity;
};

struct attr_value list_value(struct module *module, const struct attr_value *values,
                             uint32_t count);
/* The list of the values from `first` on, which are taken away. `kind` is the word for the elements
 * of one that is empty, or 0. */
struct attr_value take_list(struct value_stack *values, struct module *module, uint32_t first,
                            uint32_t kind);

/* The number of up to 18 decimal digits; false where the text is not all digits, or has more. */
bool digits_read(const char *text, size_t size, int64_t *number);
/* Cuts the number after the last colon off a name, with the colon. False where there is none. */
bool cut_number(const char *text, size_t *size, int64_t *number);

/* ------------------------------------------------------------------------- messages ---- */

/* What a reader of protobuf text has. */
struct fields {
    struct dump *dump;
    struct proto_text *proto;
    struct value_stack values;
    bool only_graphs; /* of values, only the graphs in them are read */
};

enum field_sort {
    FIELD_MANY,   /* any number of times */
    FIELD_ONE,    /* at most once */
    FIELD_CHOICE, /* once, and no other one of this sort or the next */
    FIELD_EITHER, /* any number of times, and no other one of these sorts */
    FIELD_STRAY,  /* it belongs to another message, and a part of the graph would be lost */
};

enum field_use {
    FIELD_UNUSED,
    FIELD_READ,  /* the reader gets it; if it is a message, not entered */
    FIELD_ENTER, /* the reader gets it; it is a message, and entered */
    FIELD_NAME, /* stored, a string: name id */

    FIELD_INT,      /* stored: int64_t */
    FIELD_PUSH_INT, /* pushed on `values` */
    FIELD_PUSH_FLOAT,
    FIELD_PUSH_BOOL,
    FIELD_PUSH_STRING,
};

struct field_row {
    const char *name;
    uint8_t size, sort, use;
    bool graphs;     /* there may be graphs in it */
    uint16_t offset; /* of what is stored */
};

enum { MOST_FIELDS = 28 };

struct message {
    const char *shown; /* what diagnostics call it */
    struct field_row rows[MOST_FIELDS];
};

#define FIELD_ROW(field, sort_, ...)                                                               \
    {                                                                                              \
        .name = #field, .size = sizeof #field - 1, .sort = FIELD_##sort_, __VA_ARGS__              \
    }
#define READ(field, sort) FIELD_ROW(field, sort, .use = FIELD_READ)
#define ENTER(field, sort) FIELD_ROW(field, sort, .use = FIELD_ENTER)
#define GRAPHS(field, sort, use_) FIELD_ROW(field, sort, .use = FIELD_##use_, .graphs = true)
#define STORE(field, sort, use_, object, member)                                                   \
    FIELD_ROW(field, sort, .use = FIELD_##use_, .offset = offsetof(object, member))
#define PUSH(field, sort, use_) FIELD_ROW(field, sort, .use = FIELD_PUSH_##use_)
#define UNUSED(field) FIELD_ROW(field, ONE, .use = FIELD_UNUSED)
#define UNUSED_MANY(field) FIELD_ROW(field, MANY, .use = FIELD_UNUSED)
#define STRAY(field) FIELD_ROW(field, STRAY, .use = FIELD_UNUSED)

/* A message that was entered. */
struct field_walk {
    struct fields *fields;
    const struct message *message;
    void *into;    /* where rows store */
    uint64_t seen; /* a bit for each row that was seen */
    bool unknown;  /* a field was passed over that the message does not have */
};

/* The next field that the reader is to look at; all others are stored or passed over on the way,
 * unknown ones with a remark. One too many is an error. False as of proto_next. */
bool field_next(struct field_walk *walk, struct proto_field *field);
/* Walks through a message of which the reader looks at no field. */
void fields_read(struct fields *fields, const struct message *message, void *into);
/* Enters a message. A field that is none is an error, and false. */
bool field_enter(struct fields *fields, const struct proto_field *field);

/* The name id of a string, that of the empty one, too. NONE where it is no string, an error. */
uint32_t field_string(struct fields *fields, const struct proto_field *field);
/* The same; its place becomes a token of the source. In the order of the text. */
uint32_t field_token(struct fields *fields, const struct proto_field *field);
/* The dtype of a name or a number of an enumeration. */
unsigned field_dtype(struct fields *fields, const struct proto_field *field,
                     enum dump_numbers numbers, uint32_t loc);

static inline bool field_is_message(const struct proto_field *field, const char *name)
{
    return field->kind == PROTO_MESSAGE && proto_is(field, name);
}

/* Whether a field has one of the names of a list that NULL ends. */
bool field_is_one(const struct proto_field *field, const char *const *names);

/* The contents of a tensor: bytes that a field has, or the numbers from `first` on, which are taken
 * away; small floats may be integers that are their bits. Where there are fewer numbers than
 * elements, the last may be repeated. False where they have no form, which is said. */
bool field_contents(struct fields *fields, uint32_t type, const struct proto_field *bytes,
                    uint32_t loc, struct attr_value *value);
bool number_contents(struct fields *fields, uint32_t first, uint32_t type, bool repeats,
                     uint32_t loc, struct attr_value *value);

/* ---------------------------------------------------------------------------- calls ---- */

/* Gives each node whose op type is the name of a function, a graph of the dump, the attribute `f`
 * with that graph. */
void callees_link(struct dump *dump, const struct id_map *functions);
/* A graph that is named, but is not there, cannot be called: its name becomes a string, which is
 * said. */
void callees_check(struct dump *dump);
/* Whether the graph returns something: a node of it does, or `returns` has it. */
bool graph_returns(const struct dump_graph *graph);

#endif
