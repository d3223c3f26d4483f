/* Types, tensors and numbers of ONNX's messages. */
#ifndef FRONTEND_EXCHANGE_READERS_ONNX_VALUES_H
#define FRONTEND_EXCHANGE_READERS_ONNX_VALUES_H

#include "frontend/exchange/dump/types.h"
#include "frontend/exchange/readers/fields.h"
#include "frontend/exchange/readers/numbers.h"

/* What a reader needs for all of a text. */
struct onnx {
    struct dump *dump;
    struct proto_text proto;
    bool is_ge;            /* the text is one of GE's graphs */
    struct numbers values; /* of lists that are not closed */
    struct id_map types;   /* by name of a value of the graph at its end: type id */
    struct id_map callees; /* by op type: the graph of the function */
};

static inline struct field_walk onnx_walk(struct onnx *onnx, enum message message)
{
    return (struct field_walk){onnx->dump, &onnx->proto, message, 0, false};
}

/* Reads a TypeProto that was entered, of a value of the graph: its type id. `loc` is where remarks
 * are said. */
uint32_t onnx_read_type(struct onnx *onnx, uint32_t loc);

/* A tensor, as far as it can stand in a module. */
struct onnx_tensor {
    uint32_t name; /* NONE */
    uint32_t loc;
    uint32_t type;
    unsigned dtype;
    bool filled; /* there is a value */
    struct attr_value value;
};

/* Reads a TensorProto that was entered. Where it has contents that the module will not have, this
 * is said. */
void onnx_read_tensor(struct onnx *onnx, struct onnx_tensor *tensor, uint32_t loc);

#endif
