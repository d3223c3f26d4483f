/* The data of one op type: JSON in, struct op_type out. docs/op-types.md has the form. */
#ifndef IR_OP_TYPE_READER_H
#define IR_OP_TYPE_READER_H

#include "ir/op_types.h"

struct cJSON;

struct op_type_reader {
    struct arena *arena; /* for what is read */
    const char *path;    /* for errors */
    char *error;         /* one line */
    size_t error_size;
};

/* A text as JSON, to be deleted by cJSON_Delete; NULL, with an error, where it is none. */
struct cJSON *op_type_json(const struct op_type_reader *reader, const char *text, size_t size);

/* The type that data says a name is another name of: `"same"`, and nothing else. NULL where it says
 * what the type is. */
const char *op_type_same(const struct cJSON *json);

/* Reads the type of a name; false, with an error, where its data is wrong. `name` and `family` are
 * kept, not copied. */
bool op_type_read(const struct op_type_reader *reader, const char *name, const char *family,
                  const struct cJSON *json, struct op_type *type);

#endif
