/* AttrValue and TensorProto of TensorFlow. */
#ifndef FRONTEND_EXCHANGE_READERS_TF_VALUES_H
#define FRONTEND_EXCHANGE_READERS_TF_VALUES_H

#include "frontend/exchange/dump/types.h"
#include "frontend/exchange/readers/fields.h"
#include "frontend/exchange/readers/numbers.h"

/* What a reader needs to read values. */
struct tf_values {
    struct dump *dump;
    struct proto_text *proto;
    struct numbers numbers; /* of lists that are not closed */
    uint32_t tensor;        /* the type of the tensor that was read last; NONE */
};

static inline struct field_walk tf_walk(struct tf_values *values, enum message message)
{
    return (struct field_walk){values->dump, values->proto, message, 0, false};
}

/* Reads an AttrValue that was entered, to its end. dtypes are words, shapes types of no dtype,
 * functions symbols. False where there is none, or it has no form, which is said. */
bool tf_read_value(struct tf_values *values, uint32_t loc, struct attr_value *value);
/* The word for a dtype, which a field names or numbers. */
struct attr_value tf_read_dtype(struct tf_values *values, const struct proto_field *field,
                                uint32_t loc);

#endif
