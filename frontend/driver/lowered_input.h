/* What commands share that take a file through passes; `compile` and `run` through all of them. */
#ifndef FRONTEND_DRIVER_LOWERED_INPUT_H
#define FRONTEND_DRIVER_LOWERED_INPUT_H

#include "frontend/driver/module_io.h"
#include "frontend/driver/pass_plugins.h"
#include "frontend/driver/shared_options.h"
#include "frontend/session.h"

/* What session_options_find reads besides --strict-gears. */
#define SESSION_OPTIONS                                                                            \
    {"kernel-dir", 0, OPTION_VALUE, "DIR", "kernels for op types, before the sample kernels"},     \
        {"sk-options", 0, OPTION_VALUE, "TEXT",                                                    \
         "options of every scope, over what the file says"},                                       \
        {"partition", 0, OPTION_WORD("fewest", "reference"), "RULE",                               \
         "where scopes are cut: fewest launches (default), or where the reference compiler cuts"}, \
    {                                                                                              \
        "names", 0, OPTION_WORD("own", "reference"), "RULE",                                       \
            "names of super kernels: own (default), or reference"                                  \
    }

struct lowered_input {
    struct input input;
    struct session session; /* open where there is a module */
    struct pass_plugins plugins;
};

/* Reads, verifies and lowers a file as `wanted` says: its target, its `sk_options`, which count
 * over the command's --sk-options (frontend/driver/shared_options.h), and whether it goes on where
 * synchronisation is refuted. False where there is no lowered module; diagnostics, and a status for
 * lowered_input_close, say why. */
bool lowered_input_open(struct lowered_input *lowered, const struct invocation *invocation,
                        const char *path, const struct session_options *wanted,
                        enum exit_status *status);
enum exit_status lowered_input_close(struct lowered_input *lowered, enum exit_status status);

/* Fills in what the command line says of a session with the input's module: kernels, passes, and
 * options of scopes, those that `options` already has over the user's. Texts are in the arena of
 * the diagnostics. */
void session_options_find(struct input *input, const struct pass_plugins *plugins,
                          struct session_options *options);

/* The exit status of a run of passes, and of a step of the backend. */
enum exit_status pipeline_exit_status(enum pipeline_status status);
enum exit_status backend_exit_status(enum backend_status status);

#endif
