/* The commands of the device toolchain, as a script. */
#ifndef BACKEND_ASCEND_COMMANDS_H
#define BACKEND_ASCEND_COMMANDS_H

#include "backend/backend.h"
#include "ir/base/text.h"

/* Whether the kernels that entries call may be in an object for NPUs; reports those that are sample
 * kernels, which this machine runs. */
bool commands_check_kernels(const struct emission_job *job);

/* Appends the script that makes `base`.o of the source `base`.ascendc.cpp. The job's module has an
 * entry. */
void commands_add(const struct emission_job *job, struct text *text, const char *base);

#endif
