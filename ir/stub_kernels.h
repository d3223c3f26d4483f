/* Stubs in the place of kernels that nobody has (docs/language.md, "Stubs"). */
#ifndef IR_STUB_KERNELS_H
#define IR_STUB_KERNELS_H

#include "ir/module.h"

/* Declares a stub for ops of a type, of the core type that ops of such families and names run on,
 * on all blocks of the target. Returns its name: that of the type, or one like it that is free. */
uint32_t stub_kernel_declare(struct module *module, uint32_t op_type);

#endif
