/* The twin of a module: its entries' AscendC source, compiled for this machine (docs/ascend.md). */
#ifndef BACKEND_ASCEND_TWIN_BUILD_H
#define BACKEND_ASCEND_TWIN_BUILD_H

#include "backend/device/link.h"

/* Compiles the source that goes to the device compiler as C++, and links it with the host's kernels
 * into one relocatable object whose only global symbols are the entries, functions for skrt. */
enum backend_status twin_compile(const struct module *module, const struct backend_places *places,
                                 struct device_output *output, struct diags *diags);

#endif
