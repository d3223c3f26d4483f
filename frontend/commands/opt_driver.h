/* How `opt` runs passes on a file: what is looked at, and printed, between two of them. */
#ifndef FRONTEND_COMMANDS_OPT_DRIVER_H
#define FRONTEND_COMMANDS_OPT_DRIVER_H

#include "frontend/cli/input.h"
#include "frontend/cli/pass_plugins.h"
#include "frontend/commands/opt_passes.h"
#include "frontend/commands/opt_report.h"
#include "frontend/commands/opt_selection.h"

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
