/* How many threads, or processes, work at a time. */
#ifndef FRONTEND_CLI_JOBS_H
#define FRONTEND_CLI_JOBS_H

#include "frontend/cli/command.h"
#include "ir/base/part.h"

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

#endif
