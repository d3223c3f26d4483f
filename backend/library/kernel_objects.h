/* Kernels' object files: where they are and what functions they have. Each file is read once. */
#ifndef BACKEND_LIBRARY_KERNEL_OBJECTS_H
#define BACKEND_LIBRARY_KERNEL_OBJECTS_H

#include "backend/host/build.h"
#include "ir/base/intern.h"

struct host_function {
    const char *name;
    uint64_t code; /* bytes of the section that it is in */
};

struct host_object {
    const char *path;
    const char *error;                   /* why the file cannot be read, one line; or NULL */
    VEC(struct host_function) functions; /* by name */
};

struct host_objects {
    const struct host_places *places;
    struct intern paths;
    VEC(struct host_object *) objects; /* by path id; NULL: not read yet */
    struct arena arena;
};

/* `places` must outlive the objects. */
void host_objects_init(struct host_objects *objects, const struct host_places *places);
void host_objects_free(struct host_objects *objects);

/* The object of a kernel: its `object` as written, from the source's folder or that of the samples. An
 * object that only has the name of one of the samples, such as a graph compiled to its source's
 * folder, does not hide it. NULL where there is no such file. */
const struct host_object *host_object_of(struct host_objects *objects, const struct module *module,
                                         const struct kernel *kernel);

/* The object's function of that name, or NULL. */
const struct host_function *host_object_function(const struct host_object *object,
                                                 const struct intern_name *name);

/* The bytes of code that a kernel's object has for a core type; false where that cannot be told. */
bool host_code_size(struct host_objects *objects, const struct module *module,
                    const struct kernel *kernel, enum core_type core, uint64_t *size);

#endif
