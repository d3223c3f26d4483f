/* Options that several commands have, and what they mean. */
#ifndef FRONTEND_DRIVER_SHARED_OPTIONS_H
#define FRONTEND_DRIVER_SHARED_OPTIONS_H

#include "backend/target/backend.h"
#include "frontend/driver/command.h"
#include "frontend/session.h"
#include "ir/support/memory.h"

/* ---- How many threads, or processes, work at a time ---- */

enum { MAX_JOBS = 256 };

/* Of commands that look at the graphs and entries of a module by threads. */
#define JOBS_OPTION                                                                                \
    {                                                                                              \
        "jobs", 'j', OPTION_NUMBER(1, MAX_JOBS), "N",                                              \
            "work with N threads; if not given, with as many as there are processors, and less "   \
            "for what is small"                                                                    \
    }

/* What is given, or else the number of processors. */
unsigned jobs_option(const struct invocation *invocation);
/* The same as threads: those that are asked for are always there. If none are, there is one where
 * the process may not have much address space, of which each takes its share for ever. */
void threads_option(const struct invocation *invocation, struct threads *threads);

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

#endif
