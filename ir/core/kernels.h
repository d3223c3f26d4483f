/* What kernels are: dynamic ones with their variants, stubs, and the functions of their objects. */
#ifndef IR_CORE_KERNELS_H
#define IR_CORE_KERNELS_H

#include "ir/core/module.h"
#include "ir/support/text.h"

/* One of a dynamic kernel: what it is for a tiling key that may come at run time. */
struct variant {
    int64_t key;
    enum kernel_type type;
    uint32_t functions[CORE_TYPES]; /* name ids; NONE where the type has no part */
};

static inline bool kernel_is_dynamic(const struct module *module, const struct kernel *kernel)
{
    return attr_flag(module, kernel->attrs, W_dynamic);
}

/* Whether a kernel is declared, but has no code. */
static inline bool kernel_is_stub(const struct module *module, const struct kernel *kernel)
{
    return attr_flag(module, kernel->attrs, W_stub);
}

/* Those of a kernel that the verifier lets pass. Kernels that are not dynamic have none. */
uint32_t kernel_variants(const struct module *module, const struct kernel *kernel);
struct variant kernel_variant(const struct module *module, const struct kernel *kernel, uint32_t i);
/* The index of the variant with a key, or NONE. */
uint32_t kernel_find_variant(const struct module *module, const struct kernel *kernel, int64_t key);

/* A part of a kernel: one of the functions that its object must have. */
struct kernel_part {
    uint32_t function; /* name id, or NONE where the kernel does not say it */
    uint32_t variant;  /* of a dynamic kernel */
    enum core_type core;
};

/* The number of places for parts: one for each core type, of each variant of a dynamic kernel. */
uint32_t kernel_parts(const struct module *module, const struct kernel *kernel);
/* Sets the part at a place; false where it does not exist. */
bool kernel_part_at(const struct module *module, const struct kernel *kernel, uint32_t i,
                    struct kernel_part *part);

/* Appends the function of a copy that a kernel's object has itself (`split`): of copy 0,
 * `function`; of others that of `copies`, or NAME_splitN. */
void kernel_copy_function(struct text *text, const struct module *module,
                          const struct kernel *kernel, uint32_t function, uint32_t copy);

/* The kernel type of a name; false where there is none. */
bool kernel_type_of_name(const struct module *module, uint32_t name, enum kernel_type *type);

#endif
