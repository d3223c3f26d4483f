/* Names in messages. */
#ifndef IR_BASE_SHOWN_H
#define IR_BASE_SHOWN_H

#include "ir/base/intern.h"

/* A name as arguments for "%.*s", which would end at a NUL: one that has such is written with the
 * escapes of strings, and cut off where it is long. That text stands till as many other names as a
 * message may have are shown by the same thread. */
#define SHOWN_NAME(name) shown_size(name), shown_text(name)

int shown_size(const struct intern_name *name);
const char *shown_text(const struct intern_name *name);

#endif
