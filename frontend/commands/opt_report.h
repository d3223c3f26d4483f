/* What `opt` says of a run besides its dumps: counts of what a module consists of, and all of it as
 * JSON (docs/opt.schema.json). */
#ifndef FRONTEND_COMMANDS_OPT_REPORT_H
#define FRONTEND_COMMANDS_OPT_REPORT_H

#include "frontend/cli/input.h"
#include "ir/base/vec.h"
#include "ir/module.h"
#include "passes/pass.h"

struct module_counts {
    uint64_t kernels, graphs, ops, superkernels, entries, instrs[INSTR_COUNT];
};
struct module_counts module_count(const struct module *module);
/* A line for each number, without instructions that do not occur. */
void module_counts_print(FILE *out, const struct module_counts *counts);

/* A pass that has run. */
struct pass_run {
    const struct pass *pass;
    double seconds;
    bool changed;
};

struct opt_report {
    const char *file; /* as messages name it */
    bool steady;      /* times are not said */
    bool read;        /* there was a module */
    struct module_counts before, after;
    VEC(struct pass_run) runs;
};

/* Appends it as JSON, with the input's diagnostics; without `before` where nothing was read,
 * without `after` where the status is not EXIT_DONE, and without times where they are not said. */
void opt_report_json(struct text *text, const struct opt_report *report, struct input *input,
                     enum exit_status status);

#endif
