/* Ops of GE as protobuf text: OpDef of ge_ir.proto. */
#ifndef FRONTEND_EXCHANGE_READERS_GE_OP_H
#define FRONTEND_EXCHANGE_READERS_GE_OP_H

#include "frontend/exchange/readers/ge_graph.h"

/* An input as the op describes it. */
struct ge_slot {
    uint32_t name; /* NONE */
    bool typed;    /* it has a dtype: something is there */
    uint32_t type; /* NONE: it was not read */
};

/* An op that is being read, used again for the next one. */
struct ge_op {
    struct dump_draft draft;
    VEC(struct ge_slot) slots;
    VEC(struct dump_input) placed;
    struct vec_u32 graphs; /* names of the graphs that it calls, NONE for one that is not there */
    bool constant;         /* its type is that of constants */
    int64_t operand;       /* of the caller, that a parameter is; -1 */
    int64_t stream;
    int64_t event;                   /* of a Send or Recv; -1 */
    struct attr_value names, places; /* lists: names of inputs, and which those are */
    uint32_t path;                   /* of a FileConstant: name id, NONE */
    int64_t offset, length;
};

/* Reads the fields of an OpDef that was entered, to its end, into a node of the graph. The
 * span is that of the field. */
void ge_read_op(struct ge_reader *reader, struct ge_op *op, uint32_t graph, struct span span);
void ge_op_free(struct ge_op *op);

/* The same in parts, for texts in which the parts of an op stand elsewhere: a begin, what is known
 * of it, an end. */
void ge_op_begin(struct ge_reader *reader, struct ge_op *op, uint32_t loc);
void ge_op_end(struct ge_reader *reader, struct ge_op *op, uint32_t graph, struct span span);
/* A field of an OpDef that is a string: name, type, input. */
void ge_op_text(struct ge_reader *reader, struct ge_op *op, const struct proto_field *field);
/* The fields of the AttrDef of an attribute, of the TensorDescriptor of an input, or of an output,
 * by the cursor of the reader's values. */
void ge_op_value(struct ge_reader *reader, struct ge_op *op, uint32_t key);
void ge_op_slot(struct ge_reader *reader, struct ge_op *op);
void ge_op_output(struct ge_reader *reader, struct ge_op *op);

/* What a string names as an input: "node:0", "node:-1" and "^node" for control, "" for none. */
bool ge_read_input(struct ge_reader *reader, const struct proto_field *field,
                   struct dump_input *input);
/* Whether an op of the type returns what it takes. */
bool ge_is_return(const struct dump *dump, uint32_t type);

#endif
