/* Passes and the pipeline that runs them. */
#ifndef PASSES_PASS_H
#define PASSES_PASS_H

#include "passes/context.h"
#include "passes/properties.h"

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
    bool in_default; /* the pipeline `default` runs it */
};

enum {
#define PASS(name, ...) PASS_##name,
#include "passes/passes.def"
#undef PASS
    PASS_COUNT
};

extern const struct pass passes[PASS_COUNT];

#define PASS(name, ...) pass_function pass_##name;
#include "passes/passes.def"
#undef PASS

/* A list of passes to run, in order. */
struct pipeline {
    const struct pass *passes[64];
    unsigned count;
};

/* Parses `a,b,c`; the name `default` stands for all passes in their order. False, with a text that
 * suggests a similar name, for an unknown pass or too many. */
bool pipeline_parse(struct pipeline *pipeline, const char *list, char *error, size_t error_size);

/* Called after each pass that succeeded. False ends the pipeline. */
typedef bool pipeline_hook(void *user, const struct pass *pass, double seconds);

enum pipeline_status {
    PIPELINE_OK,
    PIPELINE_INPUT,  /* diagnostics say what is wrong with the input */
    PIPELINE_DEFECT, /* a pass broke its contract; diagnostics say which */
    PIPELINE_STOPPED /* by the hook */
};

enum pipeline_status pipeline_run(const struct pipeline *pipeline, struct pass_context *context,
                                  pipeline_hook *hook, void *user);

/* Runs the pipeline `default`, and the verifier on what it made. */
enum pipeline_status pipeline_lower(struct pass_context *context);

#endif
