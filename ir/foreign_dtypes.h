/* Data types as other systems number them (ir/foreign_dtypes.def). */
#ifndef IR_FOREIGN_DTYPES_H
#define IR_FOREIGN_DTYPES_H

#include "ir/module.h"

/* Whether GE has a data type of this number, as attributes of ops say them; `*dtype` is it, or
 * DTYPE_UNKNOWN where skir has none. */
bool ge_dtype_find(int64_t number, enum dtype *dtype);
/* All numbers are below this one. */
enum { GE_DTYPES_END = 64 };

#endif
