/* What kernels are: their cores and parameters, dynamic ones with their variants, stubs, and the
 * functions of their objects. */
#ifndef IR_CORE_KERNEL_H
#define IR_CORE_KERNEL_H

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

/* The most blocks of a kernel type that the target has cores for. */
uint32_t module_blocks(const struct module *module, enum kernel_type type);
/* The blocks that a kernel's calls and launches need: its `block`, 1 where it has none; those of a
 * dynamic kernel, which come at run time, may be as many as the target allows. */
uint32_t kernel_blocks(const struct module *module, const struct kernel *kernel);
/* The bytes of workspace that a kernel needs for an op. False where that is not known. */
bool kernel_workspace(const struct module *module, const struct kernel *kernel,
                      const struct graph *graph, const struct op *op, uint64_t *bytes);
/* How many cores the launch of an entry has for the blocks of a kernel of a type; 0 where the entry
 * does not say how large it is. */
uint32_t entry_room(const struct module *module, const struct entry *entry, enum kernel_type type);

/* How many of a kernel's `params` are tensors, which all but `workspace` and `tiling` are; NONE
 * where it has no `params`. */
uint32_t kernel_n_tensors(const struct module *module, const struct kernel *kernel);
/* Puts the words of all of them into a list, in place of what is there; none without `params`. */
void kernel_tensors(const struct module *module, const struct kernel *kernel,
                    struct vec_u32 *words);
/* The word of the n-th of them. */
uint32_t kernel_tensor(const struct module *module, const struct kernel *kernel, uint32_t n);

/* Name id of the function that a kernel has for a core type, or NONE. */
uint32_t kernel_function(const struct module *module, const struct kernel *kernel,
                         enum core_type core);

/* Whether a kernel writes a dump, as words of its metadata's `debugOptions` say. */
bool kernel_writes_dump(const struct module *module, const struct kernel *kernel);

/* What a kernel was built to do itself (`early_start`), as words of its calls: EARLY_SET for `set`,
 * EARLY_WAIT_MIX for `wait`, whose calls say for what they wait; and what it vouches for. */
unsigned kernel_early_start(const struct module *module, const struct kernel *kernel);

#endif
