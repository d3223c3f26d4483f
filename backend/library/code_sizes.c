#include "backend/library/code_sizes.h"

static bool find(struct code_sizes *sizes, const struct module *module, const struct kernel *kernel,
                 enum core_type core, uint64_t *size)
{
    struct object_code_sizes *own = (struct object_code_sizes *)sizes;
    return host_code_size(&own->objects, module, kernel, core, size);
}

void object_code_sizes_init(struct object_code_sizes *sizes, const struct host_places *places)
{
    sizes->sizes.find = find;
    host_objects_init(&sizes->objects, places);
}

void object_code_sizes_free(struct object_code_sizes *sizes)
{
    host_objects_free(&sizes->objects);
}
