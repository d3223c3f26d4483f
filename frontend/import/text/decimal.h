/* Decimal numbers as most are written, without a look at the locale or a copy. */
#ifndef FRONTEND_IMPORT_TEXT_DECIMAL_H
#define FRONTEND_IMPORT_TEXT_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

/* Each is false where [at, end) is not all of such a number, or one that needs more care than this;
 * strtoll and strtod read those. */

/* Up to 18 digits, maybe behind a sign. */
bool decimal_integer(const char *at, const char *end, int64_t *value);
/* Digits, maybe with a point among them, a sign in front and an exponent behind; the double that is
 * nearest. */
bool decimal_float(const char *at, const char *end, double *value);

#endif
