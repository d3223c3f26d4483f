/* What is known of op types, for people. */
#ifndef FRONTEND_COMMANDS_OP_TYPE_TEXT_H
#define FRONTEND_COMMANDS_OP_TYPE_TEXT_H

#include "ir/base/text.h"
#include "ir/op_types.h"

/* Appends all that data says of a type, or the names of all types by family. */
void op_type_text(struct text *text, const struct op_type *type);
void op_types_text(struct text *text, struct op_types *types);

#endif
