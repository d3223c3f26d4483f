/* What a run is to do: its options, the graph, and whether that can run. */
#ifndef FRONTEND_RUN_RUN_SETUP_H
#define FRONTEND_RUN_RUN_SETUP_H

#include "frontend/run/runner.h"

/* ---- Options that name values of a graph: --input, --output, --print, --expect ---- */

/* What an option may name, and what follows the name. */
enum named_kind {
    NAMED_PARAMETER, /* NAME=SPEC */
    NAMED_VALUE,     /* NAME=FILE.npy */
    NAMED_PRINTED,   /* NAME or @GRAPH.NAME */
    NAMED_EXPECTED,  /* NAME=SPEC or @GRAPH.NAME=SPEC */
};

/* Adds all uses of an option, in their order. False, with a usage error, where one has another form
 * or names what the graph does not have. */
bool named_values_parse(struct named_values *named, const struct invocation *invocation,
                        const char *option, const struct module *module, const struct graph *graph,
                        enum named_kind kind);
void named_values_free(struct named_values *named);

/* The last text for a value, or NULL. */
const char *named_values_find(const struct named_values *named, uint32_t value);

/* ---- Options ---- */

/* What the command line says but for what depends on the file. False, with a usage error, where it
 * is wrong. */
bool run_options_read(struct runner *runner);
/* Options of scopes that make what is to be recorded, or NULL. */
const char *run_options_record(const struct runner *runner);

/* ---- Graph ---- */

/* That of --graph, else the only one that no other calls. NULL, with a usage error, where there is
 * none. Of one with gears the combination that the command line leaves; where that is none, it is
 * reported. */
const struct graph *run_graph_choose(const struct runner *runner);

/* The one that stands for that of the first in another file: that of its name, else the only one
 * that no other calls. NULL, with a usage error, where there is none. */
const struct graph *run_graph_choose_other(const struct runner *other, const struct runner *first);

/* ---- Stubs ---- */

/* Reports each stub that is the kernel of an op of a graph, or of those that it calls. Returns
 * whether there is none. */
bool run_without_stubs(const struct module *module, const struct graph *graph, struct diags *diags);

#endif
