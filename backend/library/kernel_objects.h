/* Kernels' object files: where they are, what functions they have, and so the sizes of their code.
 * Each file is read once. */
#ifndef BACKEND_LIBRARY_KERNEL_OBJECTS_H
#define BACKEND_LIBRARY_KERNEL_OBJECTS_H

#include "backend/backend.h"
#include "ir/base/intern.h"
#include "ir/kernel_source.h"

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

#endif
