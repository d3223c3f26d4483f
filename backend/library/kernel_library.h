/* Sub-kernels that are found by op type: folders of metadata files (*.json, docs/sample-kernels.md)
 * with the objects beside them. Data of op types, *.ops.json, is not among them (ir/op_types.h). */
#ifndef BACKEND_LIBRARY_KERNEL_LIBRARY_H
#define BACKEND_LIBRARY_KERNEL_LIBRARY_H

#include "ir/kernel_source.h"

struct kernel_library {
    struct kernel_source source; /* for pass_context */
    const char *directory;
    struct arena arena;
    VEC(struct library_kernel) kernels;
    bool loaded;
};

/* `directory` must outlive the library. It is read when the source is loaded; `check` may be
 * NULL. */
void kernel_library_init(struct kernel_library *library, const char *directory,
                         library_check *check);
void kernel_library_free(struct kernel_library *library);

#endif
