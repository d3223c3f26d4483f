/* Attribute values and descriptions of tensors as GE writes them in protobuf text (ge_ir.proto): of
 * use to every format that has AttrDef or TensorDescriptor somewhere. */
#ifndef FRONTEND_EXCHANGE_READERS_GE_VALUES_H
#define FRONTEND_EXCHANGE_READERS_GE_VALUES_H

#include "frontend/exchange/dump/types.h"
#include "frontend/exchange/text/proto_text.h"

/* What is needed to read values, and used again for the next one. To be set: `dump`, `proto`,
 * `graph`, `loc`; all else is 0 at first. */
struct ge_values {
    struct dump *dump;
    struct proto_text *proto;
    uint32_t graph;   /* index of the graph whose dimensions and outer values are meant; NONE */
    uint32_t loc;     /* where remarks are said: that of the op */
    struct span key;  /* of the attribute that ge_read_attr has read last */
    bool constant;    /* a tensor that comes is the contents of a constant */
    bool only_graphs; /* of values, only the graphs in them are read */
    /* Reads the fields of a GraphDef that was entered, to its end, into a graph, whose name it
     * gives. NULL: graphs have no form. */
    bool (*read_graph)(struct ge_values *values, uint32_t *name);
    void *reader;                  /* whose function that is */
    VEC(struct attr_value) values; /* of lists that are not closed */
    VEC(struct attr) attrs;        /* of dicts that are not closed */
};

enum ge_value {
    GE_VALUE,
    GE_NO_VALUE, /* there is none */
    GE_LOST,     /* it has no form */
};

void ge_values_free(struct ge_values *values);

/* Reads the fields of an AttrDef that was entered, to its end: `s: "x"`, `list { i: 1 }` ... */
enum ge_value ge_read_value(struct ge_values *values, struct attr_value *value);

/* An entry of a map of AttrDef that was entered, `key: "k" value { i: 1 }`, to its end. `wants` may
 * be NULL; of the value of a key that it does not want, only the graphs in it are read, and without
 * any it is GE_NO_VALUE. The attribute has the key NONE where it has none. */
enum ge_value ge_read_attr(struct ge_values *values,
                           bool (*wants)(struct ge_values *values, uint32_t key),
                           struct attr *attr);

/* A TensorDescriptor. */
struct ge_desc {
    uint32_t name;  /* NONE: it has none */
    uint32_t type;  /* type id, as of dump_type */
    unsigned dtype; /* DTYPE_UNKNOWN: it says none */
};

/* Reads the fields of a TensorDescriptor that was entered, to its end. */
void ge_read_desc(struct ge_values *values, struct ge_desc *desc);
/* The same where nobody needs the type, and nothing is said of it. */
void ge_skim_desc(struct ge_values *values, struct ge_desc *desc);

#endif
