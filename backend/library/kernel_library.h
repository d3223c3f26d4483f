/* Sub-kernels that are found by op type: folders of metadata files (*.json,
 * docs/sample-kernels.md) with the objects beside them. Data of op types, *.ops.json, is not
 * among them (ir/optypes/op_types.h). Somebody's own folder comes before that of the sample
 * kernels, and within one each op type has one kernel, and one that is dynamic. */
#ifndef BACKEND_LIBRARY_KERNEL_LIBRARY_H
#define BACKEND_LIBRARY_KERNEL_LIBRARY_H

#include "ir/core/kernel_source.h"

struct kernel_library {
    struct kernel_source source; /* for pass_context */
    const char *directory, *samples;
    struct arena arena;
    VEC(struct library_kernel) kernels;
    struct intern op_types; /* of the kernels, with their folder and whether they are dynamic */
    bool loaded;
};

/* `samples` has the sample kernels, and `directory` may have others, or be the same folder. They
 * must outlive the library, and are read when the source is loaded; `check` may be NULL. */
void kernel_library_init(struct kernel_library *library, const char *directory, const char *samples,
                         library_check *check);
void kernel_library_free(struct kernel_library *library);

#endif
