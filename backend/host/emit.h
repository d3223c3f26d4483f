/* Entries as C for the host target. */
#ifndef BACKEND_HOST_EMIT_H
#define BACKEND_HOST_EMIT_H

#include "ir/core/module.h"
#include "ir/support/text.h"

/* Appends one C source with a function for each entry of the module, to be compiled against skrt.h.
 * Returns false, with diagnostics, for instructions that want a slot which their entry does not
 * have. */
bool host_emit(struct text *text, const struct module *module, struct diags *diags);

#endif
