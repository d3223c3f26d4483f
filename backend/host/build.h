/* Modules as objects for the host target. */
#ifndef BACKEND_HOST_BUILD_H
#define BACKEND_HOST_BUILD_H

#include "backend/backend.h"
#include "ir/base/tool.h"

/* Compiles the module's entries and links them with their kernels into one relocatable object whose
 * only global symbols are the entries. */
enum backend_status host_compile(const struct module *module, const struct backend_places *places,
                                 const char *output, struct diags *diags);

/* Links the kernels that `used` marks (by kernel index), each function under the name of
 * host_kernel_symbol, into one relocatable object in which those are global: for launches of single
 * ops. None of them is a stub. */
enum backend_status host_link_kernels(const struct module *module,
                                      const struct backend_places *places, const uint8_t *used,
                                      const char *output, struct diags *diags);

/* A new folder for files of a build (ir/base/tool.h); false, with a diagnostic, where there cannot
 * be one. */
bool host_make_folder(struct tool_folder *folder, struct diags *diags);

/* Makes a shared object of a relocatable one. */
enum backend_status host_make_shared(const char *object, const char *output, struct diags *diags);

#endif
