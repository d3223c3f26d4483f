/* Attributes of ONNX's nodes, but for those that are graphs. */
#ifndef FRONTEND_EXCHANGE_READERS_ONNX_ATTRIBUTE_H
#define FRONTEND_EXCHANGE_READERS_ONNX_ATTRIBUTE_H

#include "frontend/exchange/readers/onnx_values.h"

/* The fields of AttributeProto that have values, and its numbers for the kinds of them. */
enum onnx_kind {
    KIND_UNKNOWN,
    KIND_F,
    KIND_I,
    KIND_S,
    KIND_T,
    KIND_G,
    KIND_FLOATS,
    KIND_INTS,
    KIND_STRINGS,
    KIND_TENSORS,
    KIND_GRAPHS,
    KIND_SPARSE,
    KIND_SPARSES,
    KIND_TP,
    KIND_TPS
};

struct onnx_attribute {
    uint32_t key, loc;
    enum onnx_kind kind;  /* by its field `type`, or else by its value */
    enum onnx_kind given; /* by its value; KIND_UNKNOWN: it has none */
    uint32_t first;       /* of its values in onnx.values */
    bool wanted;
};

/* The kind of the values that a field of an attribute has; KIND_UNKNOWN of another field. */
enum onnx_kind onnx_kind_of(const struct proto_field *field);
/* What the field `type` says: a word, or its number. */
enum onnx_kind onnx_read_kind(struct onnx *onnx, const struct proto_field *field);
/* Adds what a field of this kind has to the values. The type of a tensor goes to `*type`. */
void onnx_read_value(struct onnx *onnx, const struct onnx_attribute *attribute, enum onnx_kind kind,
                     const struct proto_field *field, uint32_t *type);
/* Makes the value of an attribute of those that were added, which it takes away. False where there
 * is none. */
bool onnx_attribute_value(struct onnx *onnx, const struct onnx_attribute *attribute,
                          struct attr_value *value);

#endif
