/* What ops give for the operands of the sample kernels that they are bound to. */
#ifndef PASSES_BIND_OPERANDS_H
#define PASSES_BIND_OPERANDS_H

#include "passes/pass.h"

/* Makes an op that has its kernel have an operand for each of the kernel's: optional ones that are
 * left out become `none` or `[]`, as `sample`, which it is bound to, says, and `none` at the end
 * goes where the kernel has no such operand. False with an error where a label is none of the
 * kernel's, or an operand is missing. Too many operands are for the library to refuse, and so is
 * their number where no operand has a label. */
bool operands_complete(struct diags *diags, const struct module *module, struct graph *graph,
                       uint32_t id, const struct library_kernel *sample);

#endif
