/* What `compile` and `run` share: a file taken through the default pipeline. */
#ifndef FRONTEND_COMMANDS_LOWERED_INPUT_H
#define FRONTEND_COMMANDS_LOWERED_INPUT_H

#include "backend/host/build.h"
#include "frontend/cli/input.h"
#include "frontend/cli/kernel_dir.h"

struct host_input {
    struct input input;
    struct kernel_library library;
    struct library_place place;
    struct host_places places;
    char *source_dir;
};

/* Reads, verifies and lowers a file, with the command's --sk-options (frontend/cli/sk_argument.h) and over
 * them `sk_options` (NULL: none), even if its synchronisation is wrong where `unproven`. False where there is no lowered module;
 * diagnostics, and a status for host_input_close, say why. */
bool host_input_open(struct host_input *host, const struct invocation *invocation, const char *path,
                     const char *sk_options, bool unproven, enum exit_status *status);
enum exit_status host_input_close(struct host_input *host, enum exit_status status);

/* The exit status of a step of the backend. */
enum exit_status host_exit_status(enum host_status status);

#endif
