/* What a text that is in no format of others may be. */
#ifndef FRONTEND_EXCHANGE_DESCRIBE_H
#define FRONTEND_EXCHANGE_DESCRIBE_H

#include "ir/base/diag.h"
#include "ir/base/text.h"

/* Appends one line of text, or reports where the text stops to be the protobuf text that it begins
 * as: false. */
bool exchange_describe(const struct source *source, struct diags *diags, struct text *text);

#endif
