/* Links of entries with kernels: the objects of kernels, and their functions in a link. */
#include "backend/library/kernel_link.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ir/syntax/locate.h"

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
        struct kernel_part part;
        bool has = true;
        for (uint32_t k = 0; k < kernel_parts(module, kernel) && has; k++)
            has = !kernel_part_at(module, kernel, k, &part) || function_of(candidate, module, part);
        if (has)
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

/* --------------------------------------------------------------------------- kernels ---- */

static bool kernel_fails(const struct kernel_link *linker, const struct kernel *kernel,
                         enum diag_id id, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Reports at the kernel's declaration; always false. */
static bool kernel_fails(const struct kernel_link *linker, const struct kernel *kernel,
                         enum diag_id id, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    diag_vat(linker->diags, id, locate_name(linker->module, kernel->loc), format, args);
    va_end(args);
    return false;
}

static bool no_object(const struct kernel_link *linker, const struct kernel *kernel,
                      uint32_t object)
{
    const struct module *module = linker->module;
    const struct attr *attr = attr_find(module, kernel->attrs, W_object);
    struct span span = attr ? locate_token(module, attr->loc) : locate_name(module, kernel->loc);
    if (object == NONE) {
        if (diag_at(linker->diags, DIAG_missing_attribute, span,
                    "the kernel '@%.*s' has no 'object'", NAME(module, kernel->name)))
            diag_help(linker->diags, "write object = \"FILE.o\", the file with its function; or "
                                     "'stub', if there is none");
        return false;
    }
    if (!diag_at(linker->diags, DIAG_kernel_object, span,
                 "the object '%.*s' of '@%.*s' is not there", NAME(module, object),
                 NAME(module, kernel->name)))
        return false;
    const struct source_file *file =
        attr->loc == NONE ? NULL : source_file_at(module->source, attr->loc);
    const struct backend_places *places = linker->objects->places;
    diag_help(linker->diags, "it was looked for in %s%s%s'%s' and '%s'",
              file ? "the folder of '" : "", file ? file->text.path : "", file ? "', " : "",
              places->source_dir, places->kernel_dir);
    return false;
}

/* By the kernel whose object it is. */
static uint32_t owner_of(const struct kernel_link *linker, const struct kernel *kernel)
{
    return linker->names.owner ? linker->names.owner(linker->names.user, kernel)
                               : kernel_id(linker->module, kernel);
}

static unsigned copy_group(const struct kernel_link *linker, const struct kernel *kernel,
                           uint32_t copy)
{
    return linker->first_group + owner_of(linker, kernel) + copy * linker->module->kernels.count;
}

unsigned kernel_link_group(const struct kernel_link *linker, const struct kernel *kernel)
{
    return copy_group(linker, kernel, 0);
}

/* Renames one function of a kernel, or of a copy of it, to what the entries call. */
static bool export_function(const struct kernel_link *linker, const struct kernel *kernel,
                            const struct kernel_object *object, struct kernel_part part,
                            uint32_t copy)
{
    const struct module *module = linker->module;
    bool own = copy && attr_find(module, kernel->attrs, W_split);
    struct text name = {NULL, 0, 0}, symbol = {NULL, 0, 0};
    kernel_copy_function(&name, module, kernel, part.function, own ? copy : 0);
    const struct intern_name wanted = {.text = name.at, .size = (uint32_t)name.size};
    const struct kernel_function *function = kernel_object_function(object, &wanted);
    if (!function)
        kernel_fails(linker, kernel, DIAG_kernel_object,
                     own ? "'%s' does not define the function '%.*s', a copy for '@%.*s'"
                         : "'%s' does not define the function '%.*s' of '@%.*s'",
                     object->path, (int)name.size, name.at, NAME(module, kernel->name));
    text_free(&name);
    if (!function)
        return false;
    linker->names.symbol(linker->names.user, &symbol, kernel, part, copy);
    text_char(&symbol, '\0');
    object_link_export(linker->link, copy_group(linker, kernel, own ? 0 : copy), function->name,
                       symbol.at);
    if (linker->keep)
        object_link_keep(linker->link, symbol.at);
    text_free(&symbol);
    return true;
}

static bool export_functions(const struct kernel_link *linker, const struct kernel *kernel,
                             const struct kernel_object *object, uint32_t copy)
{
    bool ok = true;
    for (uint32_t i = 0; i < kernel_parts(linker->module, kernel) && ok; i++) {
        struct kernel_part part;
        if (!kernel_part_at(linker->module, kernel, i, &part))
            continue;
        if (part.function != NONE)
            ok = export_function(linker, kernel, object, part, copy);
        else
            ok = kernel_fails(linker, kernel, DIAG_missing_attribute,
                              "the kernel '@%.*s' does not name its %s function: write function = "
                              "\"FUNCTION\"",
                              NAME(linker->module, kernel->name), core_type_name(part.core));
    }
    return ok;
}

/* The code of a kernel's copies: kernels with one object share these, too. */
static bool add_code(struct kernel_link *linker, const struct kernel *kernel,
                     const struct kernel_object *object, uint32_t copies)
{
    uint32_t *copied = &linker->copied[owner_of(linker, kernel)];
    if (object_link_error(linker->link)) /* which was told */
        return false;
    if (*copied == 0 &&
        !object_link_add_read(linker->link, copy_group(linker, kernel, 0), object->file))
        return kernel_fails(linker, kernel, DIAG_kernel_object, "%s",
                            object_link_error(linker->link));
    for (*copied = *copied ? *copied : 1; *copied < copies; ++*copied)
        object_link_copy(linker->link, copy_group(linker, kernel, 0),
                         copy_group(linker, kernel, *copied));
    return true;
}

static bool add_kernel(struct kernel_link *linker, const struct kernel *kernel, uint32_t copies)
{
    const struct module *module = linker->module;
    if (kernel_is_stub(module, kernel)) { /* its functions are among the entries */
        assert(!linker->keep);
        return true;
    }
    const struct kernel_object *object = kernel_object_of(linker->objects, module, kernel);
    if (!object)
        return no_object(linker, kernel, attr_string(module, kernel->attrs, W_object));
    if (object->error)
        return kernel_fails(linker, kernel, DIAG_kernel_object, "%s", object->error);
    for (uint32_t copy = 0; copy < copies; copy++)
        if (!export_functions(linker, kernel, object, copy))
            return false;
    return add_code(linker, kernel, object, attr_find(module, kernel->attrs, W_split) ? 1 : copies);
}

/* ----------------------------------------------------------------------------- links ---- */

void kernel_link_begin(struct kernel_link *linker, const struct module *module,
                       const struct backend_places *places, const struct kernel_names *names,
                       unsigned first_group, const char *output, struct diags *diags)
{
    *linker = (struct kernel_link){.link = object_link_new(),
                                   .module = module,
                                   .objects = places->objects,
                                   .names = *names,
                                   .output = output,
                                   .first_group = first_group,
                                   .diags = diags};
    linker->copied = mem_calloc(module->kernels.count + 1, sizeof *linker->copied);
}

bool kernel_link_add(struct kernel_link *linker, const uint8_t *copies)
{
    bool ok = true;
    for (uint32_t i = 0; i < linker->module->kernels.count; i++)
        if (copies[i])
            ok = add_kernel(linker, &linker->module->kernels.at[i], copies[i]) && ok;
    return ok;
}

/* What a kernel's object needs and no object defines. */
struct lacks {
    struct text names; /* the first ones */
    uint32_t count;
};

struct missing {
    const struct kernel_link *linker;
    struct lacks *lacks; /* by kernel */
};

static void visit_undefined(void *user, unsigned group, const char *name)
{
    enum { MAX_NAMES = 4 };
    struct missing *missing = user;
    const struct kernel_link *linker = missing->linker;
    if (group < linker->first_group || object_is_linked_later(name) || linker->provided(name) ||
        strcmp(name, "_GLOBAL_OFFSET_TABLE_") == 0) /* which the loader makes */
        return;
    uint32_t kernel = (group - linker->first_group) % linker->module->kernels.count;
    struct lacks *lacks = &missing->lacks[kernel];
    if (lacks->count++ < MAX_NAMES)
        text_printf(&lacks->names, "%s'%.300s'", lacks->count > 1 ? ", " : "", name);
    else if (lacks->count == MAX_NAMES + 1)
        text_string(&lacks->names, ", ...");
}

static void warn_undefined(const struct kernel_link *linker)
{
    const struct module *module = linker->module;
    uint32_t kernels = module->kernels.count;
    if (!linker->provided)
        return;
    struct missing missing = {linker, mem_calloc((size_t)kernels + 1, sizeof *missing.lacks)};
    object_link_undefined(linker->link, visit_undefined, &missing);
    for (uint32_t i = 0; i < kernels; i++) {
        const struct kernel *kernel = &module->kernels.at[i];
        struct lacks *lacks = &missing.lacks[i];
        if (lacks->count &&
            diag_at(linker->diags, DIAG_undefined_symbol, locate_name(module, kernel->loc),
                    "the object of '@%.*s' needs %.*s, which no object defines",
                    NAME(module, kernel->name), (int)lacks->names.size, lacks->names.at))
            diag_help(linker->diags, "link what defines it into the kernel's object (ld -r): 'run' "
                                     "cannot load the kernel without");
        text_free(&lacks->names);
    }
    mem_free(missing.lacks);
}

/* Always false. */
static bool link_fails(const struct kernel_link *linker, const char *why)
{
    diag_at(linker->diags, DIAG_link, no_span, "%s", why);
    return false;
}

/* To the output, or only to see that it can be. A file is the last that comes of a link. */
static bool write_link(struct kernel_link *linker)
{
    void *bytes;
    size_t size;
    char error[1024];
    bool any = linker->output || linker->bytes;
    for (uint32_t i = 0; i < linker->module->kernels.count && !any; i++)
        any = linker->copied[i];
    if (!any)
        return true;
    if (!object_link_bytes(linker->link, &bytes, &size))
        return link_fails(linker, object_link_error(linker->link));
    warn_undefined(linker);
    bool ok = !linker->output || file_write(linker->output, bytes, size, error, sizeof error) ||
              link_fails(linker, error);
    if (linker->bytes && !linker->output) {
        *linker->bytes = bytes;
        *linker->size = size;
    } else {
        mem_free(bytes);
    }
    return ok;
}

enum backend_status kernel_link_finish(struct kernel_link *linker, bool ok)
{
    ok = ok && write_link(linker);
    object_link_free(linker->link);
    mem_free(linker->copied);
    return ok ? BACKEND_OK : BACKEND_INPUT;
}
