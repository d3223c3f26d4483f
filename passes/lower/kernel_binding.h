/* Kernels that the module declares for a type of ops (`op`), for ops of this type without `via`. */
#ifndef PASSES_LOWER_KERNEL_BINDING_H
#define PASSES_LOWER_KERNEL_BINDING_H

#include "ir/core/kernel_source.h"
#include "passes/manager/context.h"
#include "passes/manager/pass.h"

/* Gives ops the kernel that is the only one of their type; adds to `*bound` how many. False with
 * diagnostics where several are of an op's type. */
bool declared_kernels_bind(struct pass_context *context, uint32_t *bound);

/* Ops whose kernels' blocks depend on shapes get kernels with numbers. */

/* Declares for each number of blocks that such a kernel has for some op a copy with that number,
 * which the ops run then, and counts these. Reports what cannot be told, or is more than the target
 * has. */
bool sized_kernels_bind(struct pass_context *context, uint32_t *bound);

/* What a module says of a sample kernel: its declaration, as one that is written by hand. */

/* The blocks that the sample wants, as far as the target has cores for them; 0: shapes say it. */
uint32_t sample_block(const struct module *module, const struct library_kernel *sample);

/* Adds the kernel with so many blocks, or where that is 0 with what the sample says of shapes. Its
 * name, a free one, is returned. Sets `*ill_described` with a diagnostic where its description says
 * what is no number of blocks. */
uint32_t sample_declare(struct module *module, const struct library_kernel *sample, uint32_t blocks,
                        struct diags *diags, bool *ill_described);

/* What ops give for the operands of the sample kernels that they are bound to. */

/* Makes an op that has its kernel have an operand for each of the kernel's: optional ones that are
 * left out become `none` or `[]`, as `sample`, which it is bound to, says, and `none` at the end
 * goes where the kernel has no such operand. False with an error where a label is none of the
 * kernel's, or an operand is missing. Too many operands are for the library to refuse, and so is
 * their number where no operand has a label. */
bool operands_complete(struct diags *diags, const struct module *module, struct graph *graph,
                       uint32_t id, const struct library_kernel *sample);

/* Whether every op has its kernel, whatever entries are like. */
bool ops_are_bound(const struct module *module);

#endif
