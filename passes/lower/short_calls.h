/* Calls of hand-written entries that name no more than their op. */
#ifndef PASSES_LOWER_SHORT_CALLS_H
#define PASSES_LOWER_SHORT_CALLS_H

#include "passes/manager/context.h"

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

/* Calls of sample kernels that the module does not declare, in entries that are written by hand:
 * they name the kernel as it would be declared. */

/* The kernel that an op of a super kernel got, under the name that the sample has. */
struct sample_use {
    uint32_t entry; /* its name */
    uint32_t sample, kernel;
};

struct sample_uses {
    struct sample_use *at;
    uint32_t count, capacity;
};

/* The names of kernels that entries use and the module does not declare. */
void undeclared_find(struct id_map *undeclared, const struct module *module);

/* The blocks with which the entry calls the kernel of a name; 0: it does not. */
uint32_t entry_called_blocks(const struct entry *entry, uint32_t name);

/* Gives the instructions with these names the kernels that the ops of their super kernel got. False
 * with diagnostics where no op of the module got one of that name. */
bool sample_calls_write(struct pass_context *context, const struct id_map *undeclared,
                        const struct sample_uses *uses);

#endif
