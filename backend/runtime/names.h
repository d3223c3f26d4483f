/* What core types, flags, statuses, cores and instructions are called in reports; the table of
 * flags with what else is known of each. */
#ifndef BACKEND_RUNTIME_NAMES_H
#define BACKEND_RUNTIME_NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "backend/runtime/skrt.h"

#pragma GCC visibility push(hidden)

/* The flags between an AIC and its AIVs: those of the entry, then those of sub-kernels. */
enum skrt_flag {
    SKRT_FLAG_C2V,
    SKRT_FLAG_V2C,
    SKRT_ENTRY_FLAGS, /* how many the entry has */
    SKRT_FLAG_KERNEL_C2V = SKRT_ENTRY_FLAGS,
    SKRT_FLAG_KERNEL_V2C,
    SKRT_FLAGS
};

struct skrt_flag_info {
    const char *name;
    enum skrt_core_type setter; /* cores of the other type wait */
    bool kernel;                /* whether it is one of sub-kernels */
};
extern const struct skrt_flag_info skrt_flag_table[SKRT_FLAGS];

extern const char *const skrt_core_type_names[SKRT_CORE_TYPES];        /* "aic" */
extern const char *const skrt_core_type_plural_names[SKRT_CORE_TYPES]; /* "AICs" */

/* The text of a site and the operator of a call's, or where it has none the call itself; "?" where
 * there is none. Async-signal-safe. */
const char *skrt_site_text(const struct skrt_site *site);
const char *skrt_site_op(const struct skrt_site *site);

/* "aic 3" or "aic 3..5", and "aic 3, aic 5..7" for the marked ones of n. */
void skrt_print_range(FILE *out, enum skrt_core_type type, uint32_t first, uint32_t last);
void skrt_print_cores(FILE *out, enum skrt_core_type type, const bool *marked, uint32_t n);

#pragma GCC visibility pop

#endif
