/* Which graph of a file is run. */
#ifndef FRONTEND_COMMANDS_RUN_GRAPH_H
#define FRONTEND_COMMANDS_RUN_GRAPH_H

#include "frontend/commands/runner.h"

/* That of --graph, else the only one that no other calls. NULL, with a usage error, where there is
 * none. Of one with gears the combination that the command line leaves; where that is none, it is
 * reported. */
const struct graph *run_graph_choose(const struct runner *runner);

/* The one that stands for that of the first in another file: that of its name, else the only one
 * that no other calls. NULL, with a usage error, where there is none. */
const struct graph *run_graph_choose_other(const struct runner *other, const struct runner *first);

#endif
