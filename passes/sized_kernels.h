/* Ops whose kernels' blocks depend on shapes get kernels with numbers. */
#ifndef PASSES_SIZED_KERNELS_H
#define PASSES_SIZED_KERNELS_H

#include "passes/context.h"

/* Declares for each number of blocks that such a kernel has for some op a copy with that number,
 * which the ops run then, and counts these. Reports what cannot be told, or is more than the target
 * has. */
bool sized_kernels_bind(struct pass_context *context, uint32_t *bound);

#endif
