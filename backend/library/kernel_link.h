/* Kernels' object files: where they are, what functions they have, and so the sizes of their code.
 * Each file is read once. */
#ifndef BACKEND_LIBRARY_KERNEL_LINK_H
#define BACKEND_LIBRARY_KERNEL_LINK_H

#include "backend/linker/object.h"
#include "backend/target/backend.h"
#include "ir/core/kernel.h"
#include "ir/core/kernel_source.h"
#include "ir/support/file.h"
#include "ir/support/intern.h"

struct object_file;

struct kernel_function {
    const char *name;
    uint64_t code; /* bytes of the section that it is in */
};

struct kernel_object {
    const char *path;
    struct object_file *file;              /* which the names are in */
    const char *error;                     /* why the file cannot be read, one line; or NULL */
    VEC(struct kernel_function) functions; /* by name */
};

struct kernel_objects {
    struct code_sizes sizes; /* what passes know of them */
    const struct backend_places *places;
    struct intern paths;
    VEC(struct kernel_object *) objects; /* by path id; NULL: not read yet */
    struct arena arena;
};

/* Those of `places`, which outlives them. */
void kernel_objects_init(struct kernel_objects *objects, struct backend_places *places);
void kernel_objects_free(struct kernel_objects *objects);

/* The object of a kernel: its `object` as written, from the source's folder or that of the samples.
 * An object that only has the name of one of the samples, such as a graph compiled to its source's
 * folder, does not hide it. NULL where there is no such file. */
const struct kernel_object *kernel_object_of(struct kernel_objects *objects,
                                             const struct module *module,
                                             const struct kernel *kernel);

/* The object's function of that name, or NULL. */
const struct kernel_function *kernel_object_function(const struct kernel_object *object,
                                                     const struct intern_name *name);

/* Links of entries with the kernels that they call. */

/* What a target calls the functions of kernels. */
struct kernel_names {
    /* Appends the symbol of a part of a kernel, or of a copy of it; copy 0 is the part itself. */
    void (*symbol)(const void *user, struct text *text, const struct kernel *kernel,
                   struct kernel_part part, uint32_t copy);
    /* The first kernel, by index, with the object of a kernel, which is linked once for all that
     * have it. NULL: each kernel's object is linked by itself. */
    uint32_t (*owner)(const void *user, const struct kernel *kernel);
    const void *user;
};

/* One link of kernels, and what is said about it. */
struct kernel_link {
    struct object_link *link;
    const struct module *module;
    struct kernel_objects *objects;
    struct kernel_names names;
    const char *output; /* what will be written; NULL: nothing, */
    void **bytes;       /* but it goes to memory, to be freed; or NULL: the link is only tried */
    size_t *size;
    bool keep; /* the kernels' functions stay global */
    /* Whether a name is defined where the code runs: kernels that need others are warned of. NULL:
     * they are not. */
    bool (*provided)(const char *name);
    unsigned first_group; /* those before it are the target's own */
    uint32_t *copied;     /* by group of a kernel: copies so far; 0: its object is not added */
    struct diags *diags;
};

void kernel_link_begin(struct kernel_link *linker, const struct module *module,
                       const struct backend_places *places, const struct kernel_names *names,
                       unsigned first_group, const char *output, struct diags *diags);

/* The group of a kernel's object. */
unsigned kernel_link_group(const struct kernel_link *linker, const struct kernel *kernel);

/* Adds as many copies of each kernel, but for stubs, whose functions are among the entries. False
 * with diagnostics. */
bool kernel_link_add(struct kernel_link *linker, const uint8_t *copies);

/* Writes the link, if all was well so far, and releases everything. */
enum backend_status kernel_link_finish(struct kernel_link *linker, bool ok);

#endif
