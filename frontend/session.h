/* A module at work: all that passes and targets need besides it, assembled in one place. */
#ifndef FRONTEND_SESSION_H
#define FRONTEND_SESSION_H

#include "backend/library/kernel_library.h"
#include "backend/library/kernel_link.h"
#include "backend/target/backend.h"
#include "passes/manager/pipeline.h"

/* What a session is opened with. All that it points to must outlive it. */
struct session_options {
    const struct backend *target; /* NULL: the default */
    const char *source; /* path of the module's text: objects are looked for in its folder first */
    const char *kernel_dir; /* of kernels by op type; NULL: there are none, and no sizes of code */
    const char *header_dir; /* of the sample kernels and skrt.h */
    const char *sk_options; /* options of every scope, over its own; NULL: none */
    const char *compare_options;     /* those of them that --compare says; NULL: none */
    const struct pass_table *passes; /* that `default` is made of; NULL: those of passes.def */
    const char *graph; /* it stays in the module, whoever calls it; NULL: any may go */
    bool strict_gears; /* a combination of gears that its graph contradicts is an error */
    bool reference_partition, reference_names; /* as in struct pass_context */
    bool unproven; /* entries whose synchronisation is refuted pass, too */
};

/* Parts point to each other: a session stays where it was opened. */
struct session {
    const struct backend *target;
    struct backend_places places;
    char *source_dir; /* in places */
    struct kernel_library library;
    struct kernel_objects objects;
    const struct pass_table *passes;
    struct pass_context context;
};

/* The folder where sample kernels and skrt.h are installed. */
const char *session_installed_kernels(void);

/* The module and the diagnostics must outlive the session. */
void session_open(struct session *session, struct module *module, struct diags *diags,
                  const struct session_options *options);
void session_close(struct session *session);

/* Warns of objects that cannot be linked as they are, where a text that was imported names them.
 * Without a folder of sample kernels nobody looks. */
void session_check_objects(struct session *session);

/* Runs passes; see pipeline_run. */
enum pipeline_status session_run(struct session *session, const struct pipeline *pipeline,
                                 pipeline_hook *hook, void *user);
/* Runs the pipeline `default`, and the verifier on what it made. */
enum pipeline_status session_lower(struct session *session);
/* Runs a part of it; see pipeline_lower_part. */
enum pipeline_status session_lower_part(struct session *session, unsigned first, unsigned end);

/* Whether the target is what the module is for; reports why not. */
bool session_target_accepts(struct session *session);

/* Reports what else the target would refuse a lowered module for. */
enum backend_status session_check_target(struct session *session);

#endif
