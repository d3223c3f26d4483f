/* What an attribute is where an op does not have it, as data of op types says it. */
#ifndef IR_OP_ATTR_DEFAULTS_H
#define IR_OP_ATTR_DEFAULTS_H

#include "ir/op_types.h"

/* Reads `attr->fallback`, which is there; false where it is none of the attribute's kind. */
bool op_attr_read_default(struct op_attr *attr, struct arena *arena);

#endif
