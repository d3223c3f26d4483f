/* Kernels that the module declares for a type of ops (`op`), for ops of this type without `via`. */
#ifndef PASSES_DECLARED_KERNELS_H
#define PASSES_DECLARED_KERNELS_H

#include "passes/context.h"

/* Gives ops the kernel that is the only one of their type; adds to `*bound` how many. False with
 * diagnostics where several are of an op's type. */
bool declared_kernels_bind(struct pass_context *context, uint32_t *bound);

#endif
