/* Host emulation of AscendC: the entries' source, compiled for this machine, and the time records
 * that it writes (docs/ascend.md). */
#ifndef BACKEND_ASCEND_HOST_EMULATION_H
#define BACKEND_ASCEND_HOST_EMULATION_H

#include "backend/ascend/ascendc.h"
#include "backend/device/link.h"
#include "backend/device/run.h"

/* The area of time records of a launch: functions of a struct device_target. */
void *twin_records_open(const struct device_run *run, const struct device_launch *launch,
                        uint64_t *slots);
struct skrt_profile *twin_records_take(const struct device_run *run,
                                       const struct device_launch *launch, const void *area,
                                       uint64_t begin);

/* Compiles the source that goes to the device compiler as C++, and links it with the host's kernels
 * into one relocatable object whose only global symbols are the entries, functions for skrt. */
enum backend_status twin_compile(const struct module *module, const struct backend_places *places,
                                 struct device_output *output, struct diags *diags);

#endif
