/* What the device compiler says of the source, told at the places of the program that it is of. */
#ifndef BACKEND_ASCEND_COMPILE_ERRORS_H
#define BACKEND_ASCEND_COMPILE_ERRORS_H

#include "backend/ascend/ascendc.h"
#include "backend/backend.h"

/* `said` is what a tool that failed printed, behind a line that names it; it is changed. */
void compile_errors_report(const struct emission_job *job, char *said, const struct text *source,
                           const struct source_lines *lines);

#endif
