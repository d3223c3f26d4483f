/* Targets: what a lowered module is made into, and where its graphs run. Each is a row of
 * backends.def, with those of what it emits, and a folder. */
#ifndef BACKEND_TARGET_BACKEND_H
#define BACKEND_TARGET_BACKEND_H

#include "ir/core/kernel_source.h"

struct backend_runner;
struct kernel_objects;
struct spans;
struct text;

/* Where a target finds what a module names. */
struct backend_places {
    const char *source_dir;         /* of the .skir file: `object` paths are relative to it first */
    const char *kernel_dir;         /* then to this one, of kernels that are found by op type */
    const char *header_dir;         /* then to this one, of the sample kernels; has skrt.h */
    struct kernel_objects *objects; /* what was found so far (backend/library/kernel_link.h) */
};

enum backend_status {
    BACKEND_OK,
    BACKEND_INPUT, /* diagnostics say what is wrong */
    BACKEND_TOOL,  /* an external tool failed; diagnostics have what it printed */
};

enum backend_id {
    BACKEND_any, /* the target of emissions that need none */
#define BACKEND(name, summary, runs, functions) BACKEND_##name,
#include "backend/target/backends.def"
    BACKEND_END
};

/* ------------------------------------------------------------------- what is emitted ---- */

enum emission_kind {
    EMISSION_TEXT,
    EMISSION_OBJECT, /* needs super kernels, and a file to be written to */
    EMISSION_FILES,  /* the same, with others that are written beside it */
};

struct emission_job {
    const struct module *module; /* lowered */
    const struct backend_places *places;
    struct diags *diags;
    const struct spans *comments; /* of the module's source, for texts of the language; or NULL */
    struct text *text;            /* EMISSION_TEXT: where it is appended */
    const char *output;           /* others: the file */
};

typedef enum backend_status emission_function(const struct emission_job *job);

struct emission {
    enum backend_id target;
    const char *name, *summary; /* of --emit and its help */
    enum emission_kind kind;
    const char *suffix; /* of files with it */
    emission_function *make;
};

#define EMISSION(target, name, kind, suffix, make, summary) emission_function make;
#include "backend/target/backends.def"

/* -------------------------------------------------------------------------- targets ---- */

struct backend_functions {
    library_check *check_op; /* of the sample kernels */
    /* Whether the target is what the module is for; reports why not. Only where the command line
     * names the target. NULL: it takes all. */
    bool (*accepts)(const struct module *module, struct diags *diags);
    /* Reports what else the target's object would be refused for before a tool is called: what
     * cannot be emitted, and kernels' objects. Nothing is written; a module without entries is
     * well. */
    emission_function *check;
    const struct backend_runner
        *runner; /* backend/target/run.h; NULL: graphs do not run on this target */
};

struct backend {
    enum backend_id id;
    const char *name, *summary; /* of --target and its help */
    bool runs;                  /* as its runner says */
    const struct backend_functions *functions;
};

#define BACKEND(name, summary, runs, functions) extern const struct backend_functions functions;
#include "backend/target/backends.def"

/* The target that is meant where none is named. */
const struct backend *backend_default(void);

/* The target of a name. NULL, with one line of text that has a similar name or all names, where
 * there is none. */
const struct backend *backend_find(const char *name, char *error, size_t error_size);

/* The target that is meant where only what is emitted is named: the first that emits something of
 * this name, the default where all do. NULL, with such a text, where none does. */
const struct backend *backend_emitting(const char *emission, char *error, size_t error_size);

/* What the target is for. */
const struct emission *emission_default(const struct backend *backend);

/* What the target emits under a name. NULL, with such a text or one that names another target
 * which emits it, where there is nothing of that name. */
const struct emission *emission_find(const struct backend *backend, const char *name, char *error,
                                     size_t error_size);

/* How graphs run on the target; NULL, with one line of text, where they do not. */
const struct backend_runner *backend_runner(const struct backend *backend, char *error,
                                            size_t error_size);

/* Help on --target, on --target of commands that run graphs, and on --emit: a line each, behind a
 * title. */
extern const char backend_help[], backend_runner_help[], emission_help[];

#endif
