/* Options that name values of a graph: --input NAME=SPEC, --output NAME=FILE.npy, --print NAME,
 * --expect NAME=SPEC. */
#ifndef FRONTEND_COMMANDS_NAMED_VALUES_H
#define FRONTEND_COMMANDS_NAMED_VALUES_H

#include "frontend/cli/command.h"
#include "ir/module.h"

struct named_value {
    uint32_t graph;   /* index: the graph of the run, but where @GRAPH.NAME may name another */
    uint32_t value;   /* id */
    const char *text; /* behind the sign; NULL where there is none */
};

/* Zero-initialised when empty. */
struct named_values {
    struct named_value *at;
    uint32_t count, capacity;
};

/* What an option may name, and what stands behind the name. */
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

#endif
