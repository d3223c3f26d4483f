/* Files that a module names: what it includes, its kernels' objects and metadata, contents. */
#ifndef FRONTEND_CLI_NAMED_FILES_H
#define FRONTEND_CLI_NAMED_FILES_H

#include "frontend/cli/input.h"

/* Whether an output to this path would replace none of them; else it is reported. Paths are those
 * of the file as it was read, from its folder, and from that of --kernel-dir for objects. */
bool named_files_stay(struct input *input, const char *output);

#endif
