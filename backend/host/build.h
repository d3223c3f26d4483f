/* Modules as objects for the host target. */
#ifndef BACKEND_HOST_BUILD_H
#define BACKEND_HOST_BUILD_H

#include "ir/module.h"

struct host_places {
    const char *source_dir; /* of the .skir file: `object` paths are relative to it first */
    const char *kernel_dir; /* then to this one, of the sample kernels */
    const char *header_dir; /* has skrt.h */
};

enum host_status {
    HOST_OK,
    HOST_INPUT, /* diagnostics say what is wrong */
    HOST_TOOL,  /* an external tool failed; diagnostics have what it printed */
};

/* Compiles the module's entries and links them with their kernels into one relocatable object whose
 * only global symbols are the entries. */
enum host_status host_compile(const struct module *module, const struct host_places *places,
                              const char *output, struct diags *diags);

/* Links the kernels that `used` marks (by kernel index), each function under the name of
 * host_kernel_symbol, into one relocatable object in which those are global: for launches of single
 * ops. */
enum host_status host_link_kernels(const struct module *module, const struct host_places *places,
                                   const uint8_t *used, const char *output, struct diags *diags);

/* Makes a shared object of a relocatable one. */
enum host_status host_make_shared(const char *object, const char *output, struct diags *diags);

#endif
