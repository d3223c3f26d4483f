/* What kernels are told of their tensors and attributes: the tiling of an op's launches. */
#ifndef BACKEND_DEVICE_TILINGS_H
#define BACKEND_DEVICE_TILINGS_H

#include "backend/device/run.h"

/* A table (backend/device/tables.h) of the run with a copy of the tiling and of all that it refers
 * to: kernels can change none of it. */
const struct skrt_tiling *tilings_table(struct device_run *run, const struct op *op,
                                        const struct skrt_tiling *tiling);

#endif
