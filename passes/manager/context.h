/* What a pass works on and with. */
#ifndef PASSES_MANAGER_CONTEXT_H
#define PASSES_MANAGER_CONTEXT_H

#include "ir/analysis/analyses.h"
#include "ir/core/kernel_source.h"
#include "ir/core/module.h"

struct pass_context {
    struct module *module;
    struct diags *diags;
    struct kernel_source *library; /* NULL: there are no sample kernels */
    const char *sk_options;        /* options of every scope, over its own; NULL: none */
    const char *compare_options;   /* those of them that --compare says; NULL: none */
    struct code_sizes *code_sizes; /* NULL: what kernels do not say themselves is not known */
    struct analyses *analyses;     /* of the module; NULL: pipeline_run has its own */
    const char *graph; /* inline-calls leaves this one in the module; NULL: any may go */
    bool strict_gears; /* expand-gears leaves out no combination that the graph contradicts */
    bool reference_partition; /* scopes are cut where the reference compiler cuts them */
    bool reference_names;     /* super kernels have its names */
    bool unproven;            /* verify-sync looks at slots only, limit-residency and
                               * verify-launches at nothing */
};

#endif
