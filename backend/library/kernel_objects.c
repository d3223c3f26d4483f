#include "backend/library/kernel_objects.h"
#include "backend/object/object.h"
#include "ir/kernels.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------------- reading ---- */

static void add_function(void *user, const char *name, uint64_t section_size)
{
    struct kernel_object *object = user;
    vec_push(&object->functions, (struct kernel_function){name, section_size});
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct kernel_function *)a)->name,
                  ((const struct kernel_function *)b)->name);
}

static struct kernel_object *read_object(struct kernel_objects *objects, const char *path)
{
    struct kernel_object *object = arena_alloc(&objects->arena, sizeof *object);
    *object = (struct kernel_object){.path = path, .file = object_file_read(path)};
    object->error = object_file_error(object->file);
    if (!object->error)
        object_file_functions(object->file, add_function, object);
    if (object->functions.count)
        qsort(object->functions.at, object->functions.count, sizeof *object->functions.at, by_name);
    return object;
}

static const struct kernel_object *object_at(struct kernel_objects *objects, const char *path)
{
    uint32_t id = intern_copy(&objects->paths, path, strlen(path));
    while (objects->objects.count <= id)
        vec_push(&objects->objects, NULL);
    if (!objects->objects.at[id])
        objects->objects.at[id] = read_object(objects, path);
    return objects->objects.at[id];
}

/* What was read once is there; what may not be read is told of when it is read. */
static bool is_there(const struct kernel_objects *objects, const char *path)
{
    uint32_t id = intern_find(&objects->paths, path, strlen(path));
    return (id != NONE && id < objects->objects.count && objects->objects.at[id]) ||
           access(path, R_OK) == 0 || errno == EACCES;
}

/* As strcmp; the second may have any bytes. */
static int compare_names(const char *a, const struct intern_name *b)
{
    size_t size = strlen(a);
    int order = memcmp(a, b->text, size < b->size ? size : b->size);
    return order ? order : (size > b->size) - (size < b->size);
}

const struct kernel_function *kernel_object_function(const struct kernel_object *object,
                                                     const struct intern_name *name)
{
    uint32_t first;
    bisect(first, i, object->functions.count,
           compare_names(object->functions.at[i].name, name) < 0);
    if (first == object->functions.count ||
        compare_names(object->functions.at[first].name, name) != 0)
        return NULL;
    return &object->functions.at[first];
}

/* ------------------------------------------------------------------------- finding ---- */

/* The function of a part of the kernel; NULL where the object does not have it. */
static const struct kernel_function *function_of(const struct kernel_object *object,
                                                 const struct module *module,
                                                 struct kernel_part part)
{
    return part.function == NONE
               ? NULL
               : kernel_object_function(object, &module->names.names[part.function]);
}

static bool has_functions(const struct kernel_object *object, const struct module *module,
                          const struct kernel *kernel)
{
    struct kernel_part part;
    for (uint32_t i = 0; i < kernel_parts(module, kernel); i++)
        if (kernel_part_at(module, kernel, i, &part) && !function_of(object, module, part))
            return false;
    return true;
}

const struct kernel_object *kernel_object_of(struct kernel_objects *objects,
                                             const struct module *module,
                                             const struct kernel *kernel)
{
    assert(objects->places);
    const char *const folders[] = {objects->places->source_dir, objects->places->kernel_dir,
                                   objects->places->header_dir};
    const struct kernel_object *found = NULL;
    uint32_t object = attr_string(module, kernel->attrs, W_object);
    if (object == NONE)
        return NULL;
    const char *name = name_text(module, object, &objects->arena);
    if (name[0] == '/')
        return is_there(objects, name) ? object_at(objects, name) : NULL;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0] && folders[i]; i++) {
        const char *path = arena_path(&objects->arena, folders[i], name);
        if (!is_there(objects, path))
            continue;
        const struct kernel_object *candidate = object_at(objects, path);
        if (has_functions(candidate, module, kernel))
            return candidate;
        found = found ? found : candidate; /* what is wrong with it is told when it is linked */
    }
    return found;
}

/* ---------------------------------------------------------------------------- sizes ---- */

static bool find_size(struct code_sizes *sizes, const struct module *module,
                      const struct kernel *kernel, enum core_type core, uint64_t *size)
{
    struct kernel_objects *objects = (struct kernel_objects *)sizes;
    const struct kernel_object *object = kernel_object_of(objects, module, kernel);
    struct kernel_part part;
    *size = 0;
    /* Which variant of a dynamic kernel it will be is not known: the largest. */
    for (uint32_t i = 0; object && i < kernel_parts(module, kernel); i++) {
        if (!kernel_part_at(module, kernel, i, &part) || part.core != core)
            continue;
        const struct kernel_function *function = function_of(object, module, part);
        if (!function || !function->code)
            return false;
        *size = function->code > *size ? function->code : *size;
    }
    return *size > 0;
}

/* ------------------------------------------------------------------------- the files ---- */

void kernel_objects_init(struct kernel_objects *objects, struct backend_places *places)
{
    places->objects = objects;
    *objects = (struct kernel_objects){.sizes = {find_size}, .places = places};
}

void kernel_objects_free(struct kernel_objects *objects)
{
    for (uint32_t i = 0; i < objects->objects.count; i++) {
        if (!objects->objects.at[i])
            continue;
        object_file_free(objects->objects.at[i]->file);
        vec_free(&objects->objects.at[i]->functions);
    }
    vec_free(&objects->objects);
    intern_free(&objects->paths);
    arena_free(&objects->arena);
}
