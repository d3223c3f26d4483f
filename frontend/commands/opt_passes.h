/* What `opt` runs, as its options say. */
#ifndef FRONTEND_COMMANDS_OPT_PASSES_H
#define FRONTEND_COMMANDS_OPT_PASSES_H

#include "frontend/cli/command.h"
#include "passes/pipeline.h"

/* The part of --passes, in all its uses one behind the other, that --start-after and --stop-after
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

/* Whether --print-after asks for the module behind a pass. */
bool opt_passes_prints(const struct opt_passes *passes, const struct pass *pass);

#endif
