/* Modules as objects for the host target. */
#ifndef BACKEND_HOST_HOST_H
#define BACKEND_HOST_HOST_H

#include "backend/device/link.h"
#include "backend/linker/object.h"
#include "ir/core/module.h"

/* Compiles the module's entries and links them with their kernels into one relocatable object whose
 * only global symbols are the entries. */
enum backend_status host_compile(const struct module *module, const struct backend_places *places,
                                 struct device_output *output, struct diags *diags);

/* The same by way of the C source that host_emit makes, and a compiler: for machines that no
 * object is made for (backend/host/host.c). */
enum backend_status host_compile_source(const struct module *module,
                                        const struct backend_places *places,
                                        struct device_output *output, struct diags *diags);

#endif
