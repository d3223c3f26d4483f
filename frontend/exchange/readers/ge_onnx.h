/* What GE makes of ONNX's messages: op types "ge:TYPE", inputs "NODE:OUTPUT" with -1 for order,
 * tensors as attributes "output_desc_dtype:0" ... of their nodes, and graphs as nodes of the type
 * "subgraph". */
#ifndef FRONTEND_EXCHANGE_READERS_GE_ONNX_H
#define FRONTEND_EXCHANGE_READERS_GE_ONNX_H

#include "frontend/exchange/dump/types.h"

/* A tensor that a node gives, as far as it is known. */
struct ge_onnx_desc {
    unsigned dtype;
    uint32_t format; /* name id */
    struct range dims;
    bool shaped;
};

/* The node at hand. */
struct ge_onnx {
    VEC(struct ge_onnx_desc) descs; /* by output */
    VEC(int64_t) dims;
};

void ge_onnx_begin_node(struct ge_onnx *ge);
void ge_onnx_free(struct ge_onnx *ge);

/* Takes the prefix from a node's op type, and gives the node its role. True where the node is no
 * node, but stands for the graph that is its attribute. */
bool ge_onnx_type(struct dump *dump, struct dump_node *node);
/* An input by what its name says. */
void ge_onnx_input(struct dump *dump, struct dump_input *input);
/* The name of an output, "NODE:OUTPUT". */
void ge_onnx_output(struct ge_onnx *ge, struct dump *dump, uint32_t name);
/* Whether a key is of an attribute that describes a tensor; whether it says which parameter the
 * node is. */
bool ge_onnx_is_desc(const struct dump *dump, uint32_t key);
bool ge_onnx_is_index(const struct dump *dump, uint32_t key);
/* An attribute that describes a tensor, with its elements, or its one value. */
void ge_onnx_take(struct ge_onnx *ge, struct dump *dump, uint32_t key,
                  const struct attr_value *values, uint32_t count, uint32_t loc);
/* Whether a key is of the bytes of a constant. */
bool ge_onnx_is_data(const struct dump *dump, const struct dump_node *node, uint32_t key);
/* Gives the draft its outputs; and attributes that are truth values, which stand as numbers, become
 * such where the op's type says that they are. */
void ge_onnx_end_node(struct ge_onnx *ge, struct dump *dump, struct dump_draft *draft);

#endif
