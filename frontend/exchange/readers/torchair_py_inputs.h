/* What nodes of TorchAir's Python take: values, and constants that stand among their arguments. */
#ifndef FRONTEND_EXCHANGE_READERS_TORCHAIR_PY_INPUTS_H
#define FRONTEND_EXCHANGE_READERS_TORCHAIR_PY_INPUTS_H

#include "frontend/exchange/dump/types.h"
#include "frontend/exchange/readers/python_values.h"

/* What a name stands for. */
struct py_value {
    uint32_t node, output; /* name id of the node; NONE: it has none */
};

/* A constant that stands among the arguments of a node: indices of its own node and of the input
 * that takes it, and the name of the other one. */
struct py_constant {
    uint32_t node, input, taker;
};

struct py_reader {
    struct dump *dump;
    struct python_items items;
    struct python_values values;
    struct dump_draft draft, constant;
    uint32_t graph, node; /* the node's name id */
    uint32_t n_nodes;
    VEC(struct py_constant) constants; /* those without a line */
    struct intern names; /* of values, not those of nodes: ids are indices in `made` */
    struct id_map seen;  /* by keyword: the number of the node that had it last */
    VEC(struct py_value) made;
    struct vec_u32 open;    /* inputs of the graph whose names nothing had been called yet */
    uint32_t lost_controls; /* control inputs of which nobody knows where they are from */
};

static inline const struct py_item *py_item_at(const struct py_reader *reader, uint32_t index)
{
    return &reader->items.list.at[index];
}

static inline bool py_item_is(const struct py_reader *reader, uint32_t index, const char *text)
{
    return py_is(&reader->items, py_item_at(reader, index), text);
}

static inline uint32_t py_intern(struct py_reader *reader, const char *text, size_t size)
{
    return dump_name(reader->dump, text, size);
}

/* What a name stands for; NULL: nothing so far. */
const struct py_value *py_value_named(const struct py_reader *reader, const char *text,
                                      size_t size);

/* An error at an item; false. */
bool py_refuse(struct py_reader *reader, uint32_t index, const char *text);

/* The dtype that an item says: a number of GE's, or a name of GE, torch or numpy. */
unsigned py_dtype_of(struct py_reader *reader, uint32_t index);

bool py_is_const_call(const struct py_reader *reader, uint32_t index);
/* The contents and dtype of ge.Const(...). Contents need not be printed: then there is the call
 * itself. */
uint32_t py_read_const_call(struct py_reader *reader, uint32_t index, unsigned *dtype);
/* Puts contents into a node, and their type, whose dtype the caller says or they do. */
void py_put_contents(struct py_reader *reader, struct dump_draft *draft, uint32_t index,
                     unsigned dtype);

/* An argument that is an operand: one value, or a list of them. False after an error. */
bool py_add_argument(struct py_reader *reader, uint32_t index, uint32_t label);
/* Control inputs. Those that are printed as objects do not say from where they are. False after an
 * error. */
bool py_add_dependencies(struct py_reader *reader, uint32_t list);

/* Gives the constants without a line names, when all others are known. */
void py_name_constants(struct py_reader *reader);

#endif
