/* Decimal numbers that no NUL need end. */
#ifndef FRONTEND_IMPORT_TEXT_DECIMAL_H
#define FRONTEND_IMPORT_TEXT_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Up to 18 digits, maybe after a sign. False where [at, end) is not all of such a number. */
bool decimal_integer(const char *at, const char *end, int64_t *value);
/* What strtod reads of all the text, without `_` and an `f` at its end; false where that is not all
 * of it. */
bool decimal_float(const char *text, size_t size, double *value);

#endif
