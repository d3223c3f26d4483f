/* Sub-kernels that are found by op type: folders of metadata files (*.json, docs/sample-kernels.md)
 * with the objects beside them. */
#ifndef BACKEND_LIBRARY_KERNEL_LIBRARY_H
#define BACKEND_LIBRARY_KERNEL_LIBRARY_H

#include "ir/module.h"

/* What a dynamic kernel is for one tiling key. */
struct library_variant {
    int64_t key;
    enum kernel_type type;
    const char *functions[CORE_TYPES]; /* NULL where the type has none */
};

struct library_kernel {
    const char *name, *op_type, *object;
    struct library_variant *variants;  /* in the arena */
    uint32_t n_variants;               /* 0: it is not dynamic */
    const char *functions[CORE_TYPES]; /* NULL where the type has none */
    const char *const *params;
    uint32_t n_params;
    enum kernel_type type;
    uint32_t block;
    uint32_t workspace_per_element; /* bytes for each element of result 0; 0: no workspace */
};

/* What a library's kernel demands of an op beyond its operand count: given by whoever knows the
 * kernels. Reports on `diags` and returns false where the op does not fit. */
typedef bool library_check(const struct module *module, const struct graph *graph,
                           const struct op *op, struct diags *diags);

struct kernel_library {
    const char *directory;
    library_check *check; /* may be NULL */
    struct arena arena;
    VEC(struct library_kernel) kernels;
    bool loaded;
};

/* `directory` must outlive the library. It is read when a kernel is first asked for. */
void kernel_library_init(struct kernel_library *library, const char *directory,
                         library_check *check);
void kernel_library_free(struct kernel_library *library);

/* Reads the metadata files, once. False with one line of text where one cannot be read. */
bool kernel_library_load(struct kernel_library *library, char *error, size_t error_size);

/* The kernel of an op type, dynamic or not, or NULL. */
const struct library_kernel *kernel_library_find(const struct kernel_library *library,
                                                 const char *op_type, bool dynamic);

#endif
