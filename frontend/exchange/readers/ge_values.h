/* Attribute values and descriptions of tensors as GE writes them in protobuf text (ge_ir.proto): of
 * use to every format that has AttrDef or TensorDescriptor somewhere. */
#ifndef FRONTEND_EXCHANGE_READERS_GE_VALUES_H
#define FRONTEND_EXCHANGE_READERS_GE_VALUES_H

#include "frontend/exchange/dump/types.h"
#include "frontend/exchange/text/proto_text.h"

/* What is needed to read values, and used again for the next one. Set `dump` and `proto`. */
struct ge_values {
    struct dump *dump;
    struct proto_text *proto;
    uint32_t loc;   /* where remarks are said; of the op or so */
    uint32_t graph; /* whose values the graphs that are values may use; NONE */
    VEC(struct attr_value) values; /* of lists that are not closed */
    VEC(struct attr) attrs;        /* of dicts that are not closed */
};

enum ge_value { GE_VALUE, GE_NO_VALUE /* one of no known kind, or none */, GE_LOST /* no form */ };

/* Reads the fields of an AttrDef that was entered, to its end: `s: "x"`, `list { i: 1 }` ... */
enum ge_value ge_read_value(struct ge_values *values, struct attr_value *value);
void ge_values_free(struct ge_values *values);

/* A TensorDescriptor: name, type, whether it says a dtype. */
struct ge_desc {
    uint32_t name; /* NONE */
    uint32_t type;
    unsigned dtype;
};

/* Reads the fields of a TensorDescriptor that was entered, to its end. */
void ge_read_desc(struct ge_values *values, struct ge_desc *desc);

#endif
