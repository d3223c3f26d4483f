/* How `opt` runs passes on a file: what --only selects, what its options say to run, what is
 * checked and printed between two passes, and what it reports of a run. */
#ifndef FRONTEND_COMMANDS_OPT_DRIVER_H
#define FRONTEND_COMMANDS_OPT_DRIVER_H

#include "frontend/cli/command.h"
#include "frontend/cli/input.h"
#include "frontend/cli/pass_plugins.h"
#include "ir/base/vec.h"
#include "ir/module.h"
#include "ir/syntax/print.h"
#include "passes/pass.h"
#include "passes/pipeline.h"

/* The option --only: a part of a module, to be printed. */
struct selection {
    enum { SELECT_ALL, SELECT_ENTRIES, SELECT_GRAPHS, SELECT_NAMED } what;
    const char *name; /* SELECT_NAMED: without '@' */
};

/* False, with a usage error, for a value that is wrong. */
bool selection_read(struct selection *selection, const struct invocation *invocation);

/* Appends the selected part of a module, and what it needs to be a text of its own: the target,
 * kernels, graphs that are called. */
void selection_print(struct text *text, const struct selection *selection,
                     const struct module *module, const struct spans *comments);

/* Whether the module has what is selected by name; false, with a message, where it has not. */
bool selection_is_there(const struct selection *selection, const struct invocation *invocation,
                        const struct module *module);

/* The part of --passes, in all its uses one after the other, that --start-after and --stop-after
 * leave. Without --passes these two are about `default`. */
struct opt_passes {
    bool given; /* some option says what to run, be it nothing */
    struct pipeline run;
    struct pipeline printed; /* those that --print-after names */
    bool print_all;          /* it names 'all' */
};

/* False, with a message, for options that are wrong. */
bool opt_passes_read(struct opt_passes *passes, const struct invocation *invocation,
                     const struct pass_table *table);
void opt_passes_free(struct opt_passes *passes);

/* What `opt` says of a run besides its dumps: counts of what a module consists of, and all of it as
 * JSON (docs/opt.schema.json). */

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

/* What is the same for all files. */
struct opt_options {
    struct pass_plugins plugins;
    struct opt_passes passes;
    struct selection only;
    bool print_changed, time_passes, verify_each, json;
};

/* Runs the passes on a module that is verified. The report gets what has run. */
enum exit_status opt_run(struct input *input, const struct opt_options *options,
                         struct opt_report *report);

#endif
