/* The option kernel-map: which functions of kernels' objects are copies of each other's code. */
#ifndef PASSES_ENTRY_KERNEL_MAP_H
#define PASSES_ENTRY_KERNEL_MAP_H

#include "passes/entry/superkernel.h"

/* Writes `split` and `copies` of the kernels of a super kernel's ops that its option names. False
 * where it contradicts itself or a kernel, which is reported. `*copies` is their number where it
 * names any, else not changed. */
bool kernel_map_write(const struct superkernel *sk, uint32_t *copies);

/* Warns of functions in the options of all super kernels that no kernel has. */
void kernel_map_warn(const struct pass_context *context);

#endif
