/* The sample kernels as commands find them. */
#ifndef FRONTEND_CLI_KERNEL_DIR_H
#define FRONTEND_CLI_KERNEL_DIR_H

#include "frontend/cli/command.h"
#include "frontend/session.h"

/* Says in `options` where they are: in the folder of --kernel-dir; else in backend/kernels beside
 * the running program (in a build folder); else where they are installed. skrt.h lies in one of the
 * latter, whatever --kernel-dir says. Texts are in the arena. */
void kernel_dir_find(const struct invocation *invocation, struct arena *arena,
                     struct session_options *options);

#endif
