/* What to do about tensors whose types are not known. */
#ifndef BACKEND_DEVICE_UNKNOWN_TYPES_H
#define BACKEND_DEVICE_UNKNOWN_TYPES_H

#include "ir/module.h"

struct diags;

/* Adds to the last diagnostic, which says that the type of a value is not known, what to write and
 * where: at the value that it follows from. Nothing where something else is wrong with the type. */
void help_unknown_type(const struct module *module, const struct graph *graph, uint32_t value,
                       struct diags *diags);

#endif
