/* The commands of the device toolchain, as a script. */
#ifndef BACKEND_ASCEND_COMMANDS_H
#define BACKEND_ASCEND_COMMANDS_H

#include "backend/backend.h"
#include "ir/base/text.h"

/* Appends the script that makes `base`.o of the source `base`.ascendc.cpp. The job's module has an
 * entry. */
void commands_add(const struct emission_job *job, struct text *text, const char *base);

#endif
