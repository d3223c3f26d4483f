/* What to do about tensors whose types are not known. */
#ifndef BACKEND_DEVICE_OPS_H
#define BACKEND_DEVICE_OPS_H

#include "backend/runtime/skrt.h"
#include "ir/core/module.h"

struct diags;

/* Ops as the kernels of the host target see them. */

/* The bytes that a value of a type takes. False, with a diagnostic at `span`, for more than 2^46
 * elements, and for what the host target does not have: a dimension that is not static, too many of
 * them, or a format other than ND and FRACTAL_NZ. */
bool device_value_size(const struct module *module, uint32_t type, struct span span, uint64_t *size,
                       struct diags *diags);

/* What the `tiling` parameter of an op points to. The arrays are in the arena. False, with a text,
 * where an operand or result is of a type that the host target does not have. Attributes that are
 * no numbers are left out. */
bool device_tiling(const struct module *module, const struct graph *graph, const struct op *op,
                   struct arena *arena, struct skrt_tiling *tiling, char *error, size_t error_size);

/* What the host's tiling says of an op with a dynamic kernel. */
struct device_choice {
    uint32_t variant; /* of the kernel */
    int64_t key;
    uint32_t blocks;
};

/* The choice for an op: `tiling_key` and `tiling_blocks` where it has them; else the tiling
 * function of a sample kernel; without a block number, as many as the target has cores for. False,
 * with a diagnostic, where there is no key or the target has too few cores. */
bool device_choose(const struct module *module, const struct graph *graph, const struct op *op,
                   const struct kernel *kernel, struct device_choice *choice, struct diags *diags);

/* Whether an op fits the sample kernel of its type; a library_check (ir/core/kernel_source.h). */
bool device_op_check(const struct module *module, const struct graph *graph, const struct op *op,
                     struct diags *diags);

#endif
