/* The sample kernels as the commands find them. */
#ifndef FRONTEND_CLI_KERNEL_DIR_H
#define FRONTEND_CLI_KERNEL_DIR_H

#include "backend/library/kernel_library.h"
#include "frontend/cli/command.h"

struct library_place {
    char *directory; /* of the kernels */
    char *headers;   /* of skrt.h */
};

/* The folder is that of --kernel-dir; else backend/kernels beside the running program (in a build
 * folder); else where they are installed. skrt.h lies beside the sample kernels, whatever
 * --kernel-dir says. */
void library_open(struct kernel_library *library, struct library_place *place,
                  const struct invocation *invocation);
void library_close(struct kernel_library *library, struct library_place *place);

#endif
