/* Time records of the twin: the area that entries write them to (docs/ascend.md), and what it has
 * behind a launch. */
#ifndef BACKEND_ASCEND_TWIN_RECORDS_H
#define BACKEND_ASCEND_TWIN_RECORDS_H

#include "backend/device/run.h"

/* Functions of a struct device_target. */
void *twin_records_open(const struct device_run *run, const struct device_launch *launch,
                        uint64_t *slots);
struct skrt_profile *twin_records_take(const struct device_run *run,
                                       const struct device_launch *launch, const void *area,
                                       uint64_t begin);

#endif
