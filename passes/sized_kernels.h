/* Ops whose kernels' blocks depend on shapes get kernels with numbers. */
#ifndef PASSES_SIZED_KERNELS_H
#define PASSES_SIZED_KERNELS_H

#include "passes/context.h"

/* Whether the blocks of a library's kernel, declared as `kernel`, are a number or an expression
 * that can be read; else that is reported where its description says it. */
bool sample_block_check(const struct module *module, const struct kernel *kernel,
                        const struct library_kernel *sample, struct diags *diags);

/* Declares for each number of blocks that such a kernel has for some op a copy with that number,
 * which the ops run then, and counts these. Reports what cannot be told, or is more than the target
 * has. */
bool sized_kernels_bind(struct pass_context *context, uint32_t *bound);

#endif
