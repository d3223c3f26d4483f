/* What others call op types and attributes, for messages that say what is meant. */
#ifndef IR_OPTYPES_FOREIGN_NAMES_H
#define IR_OPTYPES_FOREIGN_NAMES_H

#include "ir/optypes/op_types.h"

/* The type that others call so; NULL where none is known. */
const char *meant_op_type(const char *name, size_t size);
/* The type that is meant by a name that none has: the same but for its case, what others call so,
 * else a similar one. */
struct suggest meant_type(struct op_types *types, const char *name, size_t size);

/* Whether two names of attributes mean the same somewhere. */
bool meant_keys_agree(const char *a, size_t a_size, const char *b, size_t b_size);

/* The attribute of a type that is meant by a key which it does not have: one that others call so,
 * else a similar one. */
struct suggest meant_key(const struct op_type *type, const char *key, size_t size);

#endif
