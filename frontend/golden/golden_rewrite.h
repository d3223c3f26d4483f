/* The input of a test file with the diagnostics that are reported. */
#ifndef FRONTEND_GOLDEN_GOLDEN_REWRITE_H
#define FRONTEND_GOLDEN_GOLDEN_REWRITE_H

#include "frontend/golden/golden.h"

/* Appends the lines before any `//! expect`. Sets by command whether any is expected of it. */
void golden_rewrite_input(const struct golden *golden, const struct golden_outcome *outcomes,
                          struct text *text, bool *expects);

#endif
