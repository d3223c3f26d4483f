/* Expected diagnostics: `//! SEVERITY: TEXT` in comments of the input. */
#ifndef FRONTEND_GOLDEN_GOLDEN_EXPECTATION_H
#define FRONTEND_GOLDEN_GOLDEN_EXPECTATION_H

#include "frontend/golden/golden.h"

/* Reads those of a line of the input, given by its number. False, with one line of text, where
 * something behind `//!` is none. */
bool golden_parse_expectations(struct golden *golden, uint32_t number, char *error,
                               size_t error_size);

#endif
