/* The metadata of a compiled sub-kernel, a JSON file that a fusion request names, as a kernel. */
#ifndef FRONTEND_IMPORT_SUB_KERNEL_H
#define FRONTEND_IMPORT_SUB_KERNEL_H

#include "frontend/import/dump/dump.h"
#include "ir/support/json_document.h"

struct sub_kernel_source {
    uint32_t json, object; /* name ids of paths as the request has them; object may be NONE */
    struct span json_span; /* where the request names the file */
    uint32_t object_loc;   /* where it names the object, if it does */
    bool dynamic;          /* it is called as a dynamic kernel */
};

struct sub_kernel {
    uint32_t kernel;       /* name id; NONE where reading failed, with diagnostics */
    uint32_t op_type;      /* name id */
    struct vec_u32 params; /* names of its tensors, in order */
};

/* Adds the kernel to the dump's module. */
void sub_kernel_read(struct dump *dump, const struct sub_kernel_source *source,
                     struct sub_kernel *sub);

/* A name for a kernel, like `wanted`, that nothing of the module has, and no part of a kernel. */
uint32_t sub_kernel_name(struct module *module, uint32_t wanted);

/* Warns of the key of a member that nothing reads where it is nearly one of a request, or of its
 * kernels' metadata. */
void sub_kernel_check_key(struct json_document *document, const cJSON *item);
/* A word of the language that is most like the text. */
uint32_t sub_kernel_word(struct module *module, const char *text, size_t size);

#endif
