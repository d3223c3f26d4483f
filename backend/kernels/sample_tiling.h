/* What the host does for the dynamic sample kernels before they run: it chooses their variant. Part
 * of the compiler, which plays the host. */
#ifndef BACKEND_KERNELS_SAMPLE_TILING_H
#define BACKEND_KERNELS_SAMPLE_TILING_H

#include "backend/runtime/skrt.h"

/* What the tiling of a dynamic sample kernel says: the key of the variant, and its blocks. */
struct sample_tiling {
    int64_t key;
    uint32_t blocks;
};

/* The tiling of the dynamic kernel in `object` (the name of the file) for an op with these tensors,
 * operands before results, on a device with so many AIVs. False where no dynamic sample kernel has
 * that name, or takes another number of tensors. */
bool sample_op_tiling(const char *object, const struct skrt_tensor *tensors, unsigned n_tensors,
                      uint32_t aivs, struct sample_tiling *tiling);

#endif
