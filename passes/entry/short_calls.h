/* Calls of hand-written entries that name no more than their op. */
#ifndef PASSES_ENTRY_SHORT_CALLS_H
#define PASSES_ENTRY_SHORT_CALLS_H

#include "passes/context.h"

/* Whether any entry of the module has such calls. */
bool short_calls_present(const struct module *module);

/* Whether an entry has such calls, or instructions for kernels that are not declared; whether none
 * of the module has. */
bool entry_is_unbound(const struct module *module, const struct entry *entry);
bool entries_are_bound(const struct module *module);

/* Writes them out, by the ops of the super kernels whose entries they stand in, all of which have
 * kernels: kernel, part and blocks; the arguments of all ops, where the entry has those of none;
 * and the choice of a dynamic kernel, where it does not stand directly before the call. */
bool short_calls_write(struct pass_context *context);

#endif
