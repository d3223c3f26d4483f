/* Passes and the pipeline that runs them. */
#ifndef PASSES_PASS_H
#define PASSES_PASS_H

#include "ir/analyses.h"
#include "ir/module.h"

struct kernel_library;

/* What passes demand of a module and provide. Each is checked on the module itself, so a dump of any
 * stage is as good an input as the pass before it. */
enum property {
    PROPERTY_PARTITIONED = 1, /* no op is in a scope that waits to be partitioned */
    PROPERTY_BOUND = 2,       /* every op has a kernel */
    PROPERTY_LOWERED = 4,     /* every super kernel has its entry */
    PROPERTY_END = 8,
};

/* Sizes of kernels' code, from whoever can look into their object files. */
struct code_sizes {
    /* The bytes of code that a kernel has for a core type; false where that is not known. */
    bool (*find)(struct code_sizes *sizes, const struct module *module, const struct kernel *kernel,
                 enum core_type core, uint64_t *size);
};

struct pass_context {
    struct module *module;
    struct diags *diags;
    struct kernel_library *library; /* NULL: there are no sample kernels */
    const char *sk_options;         /* options of every scope, over its own; NULL: none */
    struct code_sizes *code_sizes;  /* NULL: what kernels do not say themselves is not known */
    struct analyses *analyses;      /* of the module; NULL: pipeline_run has its own */
    bool unproven;                  /* verify-sync lets everything pass */
};

/* What a pass may change of a module; analyses of graphs outlive all but changes of GRAPHS. */
enum pass_changes { CHANGES_NOTHING, CHANGES_KERNELS, CHANGES_ENTRIES, CHANGES_GRAPHS };

/* A pass reports what is wrong with its input and then returns false; the module is unusable then. */
typedef bool pass_function(struct pass_context *context);

struct pass {
    const char *name; /* as on the command line */
    const char *summary;
    pass_function *run;
    unsigned needs, gives;    /* enum property */
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

/* The properties that hold. */
unsigned module_properties(const struct module *module);

#endif
