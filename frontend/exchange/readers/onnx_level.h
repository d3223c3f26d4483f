/* Graphs and functions of ONNX while they are read: what they declare and what stands beside their
 * nodes. */
#ifndef FRONTEND_EXCHANGE_READERS_ONNX_LEVEL_H
#define FRONTEND_EXCHANGE_READERS_ONNX_LEVEL_H

#include "frontend/exchange/readers/onnx_values.h"

/* A graph, or function, that is being read. */
struct onnx_level {
    uint32_t graph, loc;
    uint32_t name, domain, overload; /* NONE */
    struct dump_draft draft;
    VEC(struct dump_param) declared; /* names of values and their types */
    /* The node at hand. */
    uint32_t op_type, op_domain, op_overload;
    uint32_t tensor;   /* the key of its last attribute that is a tensor; NONE */
    uint32_t constant; /* the type of this; NONE */
    bool is_graph;     /* it stands for the graph that is its attribute */
};

/* Whether a field is one of GraphProto's. */
bool onnx_is_of_graph(const struct proto_field *field);

void onnx_level_begin(struct onnx *onnx, struct onnx_level *level, uint32_t loc, uint32_t parent);
/* The fields that a graph has besides its nodes. */
void onnx_level_value(struct onnx *onnx, struct onnx_level *level, const struct proto_field *field);
void onnx_level_input(struct onnx *onnx, struct onnx_level *level, const struct proto_field *field);
void onnx_level_output(struct onnx *onnx, struct onnx_level *level,
                       const struct proto_field *field);
void onnx_level_initializer(struct onnx *onnx, struct onnx_level *level,
                            const struct proto_field *field);
void onnx_level_sparse(struct onnx *onnx, struct onnx_level *level,
                       const struct proto_field *outer);
/* Its values get the types that are declared, and it its name, or else `fallback`. */
void onnx_level_end(struct onnx *onnx, struct onnx_level *level, uint32_t fallback);

#endif
