/* Diagnostics of a fuzzed text. */
#ifndef TESTS_FUZZ_PRINT_DIAGS_H
#define TESTS_FUZZ_PRINT_DIAGS_H

#include "ir/support/diag.h"

/* Formats all diagnostics, positions and source lines. */
static inline void print_diags(struct diags *diags)
{
    FILE *out = fopen("/dev/null", "w");
    if (!out)
        return;
    diags_print(diags, out, true);
    fclose(out);
}

#endif
