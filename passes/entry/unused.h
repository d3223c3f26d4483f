/* Entries that nothing launches. */
#ifndef PASSES_ENTRY_UNUSED_H
#define PASSES_ENTRY_UNUSED_H

#include "passes/context.h"

/* Warns, once in the life of the diagnostics, of entries that are for no super kernel, in modules
 * that have super kernels. Scopes that are left may become any. */
void entries_warn_unused(struct pass_context *context);

#endif
