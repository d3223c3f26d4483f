/* The data of one op type: JSON in, struct op_type out. docs/op-types.md has the form. */
#ifndef IR_OPTYPES_OP_TYPE_READER_H
#define IR_OPTYPES_OP_TYPE_READER_H

#include "ir/optypes/op_types.h"
#include "ir/support/json_document.h"

/* What data names as the type that a name is another name of, a string: `"same"`, and nothing else.
 * NULL where it says what the type is. */
const cJSON *op_type_same(const cJSON *json);

/* Reads the type of a name; false, with an error of the document, where its data is wrong. `name`
 * and `family` are kept, not copied. */
bool op_type_read(struct arena *arena, struct json_document *document, const char *name,
                  const char *family, const cJSON *json, struct op_type *type);

#endif
