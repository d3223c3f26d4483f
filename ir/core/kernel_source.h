/* What a program does not say itself about its kernels, from whoever has them: passes are given
 * both of these. */
#ifndef IR_CORE_KERNEL_SOURCE_H
#define IR_CORE_KERNEL_SOURCE_H

#include "ir/support/file_fault.h"
#include "ir/core/module.h"

struct suggest;

/* ------------------------------------------------------- kernels that ops can be bound to ---- */

/* What a dynamic kernel is for one tiling key. */
struct library_variant {
    int64_t key;
    enum kernel_type type;
    const char *functions[CORE_TYPES]; /* NULL where the type has none */
};

/* What an op gives for a parameter: a value; a value or none; a list; a list that is empty where it
 * is left out; all of its results, which are a parameter each. They are marked so behind the names
 * of a description, the last but one `*?`. */
enum {
    PARAM_REQUIRED = '\0',
    PARAM_OPTIONAL = '?',
    PARAM_LISTED = '*',
    PARAM_LISTED_OPTIONAL = 'o',
    PARAM_REPEATED = '+'
};

/* A kernel as it would be declared. */
struct library_kernel {
    const char *name, *op_type, *object;
    const char *path; /* of its description */
    bool own;         /* somebody's own: what ops of its type may be is not the library's to say */
    struct library_variant *variants;
    uint32_t n_variants;               /* 0: it is not dynamic */
    const char *functions[CORE_TYPES]; /* NULL where the type has none */
    const char *const *params;
    const char *presences; /* of each: PARAM_... */
    uint32_t n_params;
    enum kernel_type type;
    uint32_t block;
    const char *block_rule; /* what it is of shapes (ir/analysis/block_rules.h); NULL: `block` */
    struct span block_span; /* where that stands in the description */
    struct position block_at;
    uint32_t workspace_per_element; /* bytes for each element of result 0; 0: no workspace */
};

/* What a library's kernel, if it is not somebody's own, demands of an op of its type. Reports on
 * `diags` and returns false where the op does not fit. */
typedef bool library_check(const struct module *module, const struct graph *graph,
                           const struct op *op, struct diags *diags);

/* Kernels by op type. `load` comes before the others; it may be called again. */
struct kernel_source {
    /* Finds out what kernels there are. False with a fault where that cannot be told. */
    bool (*load)(struct kernel_source *source, struct file_fault *fault);
    /* The kernel of an op type, dynamic or not, or NULL. It lives as long as the source. */
    const struct library_kernel *(*find)(struct kernel_source *source, const char *op_type,
                                         bool dynamic);
    /* Offers all op types. */
    void (*offer)(struct kernel_source *source, struct suggest *suggest);
    library_check *check; /* NULL: every op fits */
    /* What is wrong with the first description that `find` or `offer` could not read. */
    bool failed;
    struct file_fault fault;
};

/* -------------------------------------------------------------------- sizes of their code ---- */

struct code_sizes {
    /* The bytes of code that a kernel has for a core type; false where that is not known. */
    bool (*find)(struct code_sizes *sizes, const struct module *module, const struct kernel *kernel,
                 enum core_type core, uint64_t *size);
};

#endif
