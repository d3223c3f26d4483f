/* Options that several commands have, and what they mean. */
#ifndef FRONTEND_DRIVER_SHARED_OPTIONS_H
#define FRONTEND_DRIVER_SHARED_OPTIONS_H

#include "backend/target/backend.h"
#include "frontend/driver/command.h"
#include "frontend/session.h"
#include "ir/support/memory.h"

/* ---- How many threads, or processes, work at a time ---- */

/* Of commands that look at the graphs and entries of a module by threads. */
#define JOBS_OPTION                                                                                \
    {                                                                                              \
        "jobs", 'j', OPTION_VALUE, "N",                                                            \
            "work with N threads; if not given, with as many as there are processors, and less "   \
            "for what is small"                                                                    \
    }

/* What is given, or else the number of processors. False, with a message, where it is no number of
 * jobs. */
bool jobs_option(const struct invocation *invocation, unsigned *jobs);
/* The same as threads: those that are asked for are always there. If none are, there is one where
 * the process may not have much address space, of which each takes its share for ever. */
bool threads_option(const struct invocation *invocation, struct threads *threads);

/* ---- The option --target ---- */

/* The target that the option names, or the default. NULL, with a usage error, where there is no
 * such target. */
const struct backend *target_option(const struct invocation *invocation);

/* ---- The sample kernels as commands find them ---- */

/* Says in `options` where they are: in the folder of --kernel-dir; else in backend/kernels beside
 * the running program (in a build folder); else where they are installed. skrt.h lies in one of the
 * latter, whatever --kernel-dir says. Texts are in the arena. */
void kernel_dir_find(const struct invocation *invocation, struct arena *arena,
                     struct session_options *options);

/* ---- The option --sk-options: options of every scope, over what the file says ---- */

/* Whether the value of an option ("sk-options"), where one is given, is correct. Says what is wrong
 * with it, as for the options of a scope, on the error stream; and warns there. */
bool sk_argument_check(const struct invocation *invocation, const char *option);

/* ---- The options --partition and --names: cuts of scopes, names of super kernels ---- */

#define FUSION_OPTIONS                                                                             \
    {"partition", 0, OPTION_VALUE, "RULE",                                                         \
     "where scopes are cut: fewest launches (default), or where the reference compiler cuts"},     \
    {                                                                                              \
        "names", 0, OPTION_VALUE, "RULE", "names of super kernels: own (default), or reference"    \
    }

/* What they say, if the command has them. False, with a usage error, where a value is unknown. */
bool fusion_arguments_read(const struct invocation *invocation, struct session_options *options);
/* Whether fusion_arguments_read succeeds. */
bool fusion_arguments_check(const struct invocation *invocation);

#endif
