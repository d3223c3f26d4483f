/* Whether an op needs AI cores. */
#ifndef IR_OP_CORES_H
#define IR_OP_CORES_H

#include "ir/module.h"

/* Whether nothing of it runs on cube or vector cores, but on the AICPU, on DMA engines or on the
 * host: said by `no_cores`, by the engine that GE has chosen (`_ge_attr_op_kernel_lib_name`), or by
 * the data of its type. What is marked as fusable runs on cores. */
bool op_has_no_cores(const struct module *module, const struct op *op);

#endif
