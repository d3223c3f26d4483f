/* What a pass is, and those of passes.def. */
#ifndef PASSES_MANAGER_PASS_H
#define PASSES_MANAGER_PASS_H

#include "passes/manager/context.h"
#include "passes/manager/properties.h"

/* What a pass may change of a module; analyses of graphs outlive all but changes of GRAPHS. */
enum pass_changes { CHANGES_NOTHING, CHANGES_KERNELS, CHANGES_ENTRIES, CHANGES_GRAPHS };

/* A pass reports what is wrong with its input and then returns false; the module is unusable
 * then. */
typedef bool pass_function(struct pass_context *context);

struct pass {
    const char *name; /* as on the command line */
    const char *summary;
    pass_function *run;
    unsigned needs, gives; /* enum property */
    enum pass_changes changes;
    bool in_default;    /* the pipeline `default` runs it */
    const char *plugin; /* the file that it comes from; NULL: it is one of skirc */
};

enum {
#define PASS(name, ...) PASS_##name,
#include "passes/manager/passes.def"
#undef PASS
    PASS_COUNT
};

/* Who is at fault where a pass leaves what it must not: two texts, one behind the other. */
#define PASS_BLAME(pass)                                                                           \
    (pass)->plugin ? "the plugin " : "skirc", (pass)->plugin ? (pass)->plugin : ""

extern const struct pass passes[PASS_COUNT];

#define PASS(name, ...) pass_function pass_##name;
#include "passes/manager/passes.def"
#undef PASS

#endif
