/* Diagnostics that a command has reported. */
#ifndef FRONTEND_GOLDEN_GOLDEN_REPORTED_H
#define FRONTEND_GOLDEN_GOLDEN_REPORTED_H

#include "frontend/golden/golden.h"

/* Reads the outcome's error stream: what is a diagnostic becomes one, the rest its report. */
void golden_read_reported(const struct golden *golden, struct golden_outcome *outcome);

#endif
