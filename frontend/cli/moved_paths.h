/* A module that is written to another folder than it came from. */
#ifndef FRONTEND_CLI_MOVED_PATHS_H
#define FRONTEND_CLI_MOVED_PATHS_H

#include "ir/module.h"

/* Makes the relative paths of its includes, and of files with contents, lead from the folder of the
 * file `to` to where they led from that of the file `from`. "-" stands in the current folder as an
 * input; as an output it is in no folder that is known, and paths stay. Kernels that were imported
 * have paths, too: of their objects, and of the metadata that they came from (`_json`). */
void move_paths(struct module *module, const char *from, const char *to);

#endif
