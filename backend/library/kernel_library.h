/* Sub-kernels that are found by op type: folders of metadata files (*.json,
 * docs/sample-kernels.md) with their objects. Data of op types, *.ops.json, is not among them
 * (ir/optypes/op_types.h). Somebody's own folder comes before that of the sample kernels, and
 * within one each op type has one kernel, and one that is dynamic.
 *
 * There are hundreds of sample kernels. Their descriptions are named after their op types, and are
 * read when a kernel of the type is looked up. If that finds none, all are read. */
#ifndef BACKEND_LIBRARY_KERNEL_LIBRARY_H
#define BACKEND_LIBRARY_KERNEL_LIBRARY_H

#include "ir/support/file.h"
#include "ir/core/kernel_source.h"

struct kernel_library {
    struct kernel_source source;     /* for pass_context */
    const char *directory, *samples; /* when loaded: the folder of `unread` */
    struct arena arena;
    VEC(struct library_kernel *) kernels;
    struct file_names unread; /* descriptions of sample kernels */
    struct intern op_types;   /* of the kernels, with their folder and whether they are dynamic */
    bool loaded;
};

/* `samples` has the sample kernels, and `directory` may have others, or be the same folder. They
 * must outlive the library; `check` may be NULL. */
void kernel_library_init(struct kernel_library *library, const char *directory, const char *samples,
                         library_check *check);
void kernel_library_free(struct kernel_library *library);

#endif
