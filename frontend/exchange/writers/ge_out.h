/* Types and attribute values as GE writes them in protobuf text (ge_ir.proto). */
#ifndef FRONTEND_EXCHANGE_WRITERS_GE_OUT_H
#define FRONTEND_EXCHANGE_WRITERS_GE_OUT_H

#include "frontend/exchange/writers/foreign.h"

/* Whether a TensorDescriptor, an AttrDef says all of it. */
bool ge_says_type(const struct module *module, uint32_t type);
bool ge_says_value(const struct module *module, const struct attr_value *value);

/* The fields of a TensorDescriptor; of a type that is NONE none. */
void ge_put_desc(struct proto_out *out, const struct module *module, uint32_t type);
/* The field of an AttrDef that has the value, which ge_says_value allows. */
void ge_put_value(struct proto_out *out, const struct module *module,
                  const struct attr_value *value);

/* The bytes of a constant's numbers, as they are in memory. False where there are none, or too
 * many for a text. */
bool foreign_contents(const struct module *module, const struct graph *graph, const struct op *op,
                      struct text *bytes);
/* That field of a TensorDef of the op's type. */
void ge_put_tensor(struct proto_out *out, const struct module *module, uint32_t type,
                   const struct text *bytes);

#endif
