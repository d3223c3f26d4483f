#include "backend/device/link.h"
#include "backend/device/symbols.h"
#include "backend/library/kernel_objects.h"
#include "backend/object/object.h"
#include "ir/syntax/locate.h"
#include "ir/variants.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { ENTRY_GROUP = 0 }; /* of the link; then come those of kernels */

/* ------------------------------------------------------------------------- kernels ---- */

/* One link of kernels, and what is said about it. */
struct linker {
    struct object_link *link;
    const struct module *module;
    struct kernel_objects objects;
    const char *output; /* what will be written */
    bool keep;          /* the kernels' functions stay global */
    struct diags *diags;
};

static bool kernel_fails(const struct linker *linker, const struct kernel *kernel, enum diag_id id,
                         const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Reports at the kernel's declaration; always false. */
static bool kernel_fails(const struct linker *linker, const struct kernel *kernel, enum diag_id id,
                         const char *format, ...)
{
    va_list args;
    va_start(args, format);
    diag_vat(linker->diags, id, locate_name(linker->module, kernel->loc), format, args);
    va_end(args);
    return false;
}

static bool no_object(const struct linker *linker, const struct kernel *kernel, uint32_t object)
{
    const struct module *module = linker->module;
    const struct attr *attr = attr_find(module, kernel->attrs, W_object);
    struct span span = attr ? locate_token(module, attr->loc) : locate_name(module, kernel->loc);
    if (object == NONE) {
        if (diag_at(linker->diags, DIAG_missing_attribute, span,
                    "the kernel '@%.*s' has no 'object'", NAME(module, kernel->name)))
            diag_help(linker->diags, "write object = \"FILE.o\", the file with its function");
        return false;
    }
    if (!diag_at(linker->diags, DIAG_kernel_object, span,
                 "the object '%.*s' of '@%.*s' is not there", NAME(module, object),
                 NAME(module, kernel->name)))
        return false;
    const struct source_file *file =
        attr->loc == NONE ? NULL : source_file_at(module->source, attr->loc);
    const struct backend_places *places = linker->objects.places;
    diag_help(linker->diags, "it was looked for in %s%s%s'%s' and '%s'",
              file ? "the folder of '" : "", file ? file->text.path : "", file ? "', " : "",
              places->source_dir, places->kernel_dir);
    return false;
}

/* The link's group of a copy of a kernel. */
static unsigned kernel_group(const struct linker *linker, uint32_t kernel_id, uint32_t copy)
{
    assert(kernel_id < linker->module->kernels.count);
    return 1 + kernel_id + copy * linker->module->kernels.count;
}

/* The function of a copy that the object brings itself: NAME_splitK. */
static const struct kernel_function *own_copy(const struct kernel_object *object,
                                              const struct intern_name *name, uint32_t copy)
{
    struct text text = {NULL, 0, 0};
    text_bytes(&text, name->text, name->size);
    text_printf(&text, "_split%u", copy);
    struct intern_name copied = {.text = text.at, .size = (uint32_t)text.size};
    const struct kernel_function *function = kernel_object_function(object, &copied);
    text_free(&text);
    return function;
}

/* Renames one function of a kernel, or of a copy of it, to what the entries call. */
static bool export_function(const struct linker *linker, uint32_t kernel_id,
                            const struct kernel_object *object, struct kernel_part part,
                            uint32_t copy)
{
    const struct module *module = linker->module;
    const struct kernel *kernel = &module->kernels.at[kernel_id];
    const struct intern_name *text = &module->names.names[part.function];
    bool own = copy && attr_find(module, kernel->attrs, W_split);
    const struct kernel_function *function =
        own ? own_copy(object, text, copy) : kernel_object_function(object, text);
    if (!function && own)
        return kernel_fails(linker, kernel, DIAG_kernel_object,
                            "'%s' does not define the function '%.*s_split%u', a copy for '@%.*s'",
                            object->path, NAME(module, part.function), copy,
                            NAME(module, kernel->name));
    if (!function)
        return kernel_fails(linker, kernel, DIAG_kernel_object,
                            "'%s' does not define the function '%.*s' of '@%.*s'", object->path,
                            NAME(module, part.function), NAME(module, kernel->name));
    struct text symbol = {NULL, 0, 0};
    if (kernel_is_dynamic(module, kernel))
        device_variant_symbol(&symbol, module, kernel_id, part.variant, part.core, copy);
    else
        device_copy_symbol(&symbol, module, kernel_id, part.core, copy);
    text_char(&symbol, '\0');
    object_link_export(linker->link, kernel_group(linker, kernel_id, own ? 0 : copy),
                       function->name, symbol.at);
    if (linker->keep)
        object_link_keep(linker->link, symbol.at);
    text_free(&symbol);
    return true;
}

static bool export_functions(const struct linker *linker, uint32_t kernel_id,
                             const struct kernel_object *object, uint32_t copy)
{
    const struct kernel *kernel = &linker->module->kernels.at[kernel_id];
    bool ok = true;
    for (uint32_t i = 0; i < kernel_parts(linker->module, kernel) && ok; i++) {
        struct kernel_part part;
        if (!kernel_part_at(linker->module, kernel, i, &part))
            continue;
        if (part.function != NONE)
            ok = export_function(linker, kernel_id, object, part, copy);
        else
            ok = kernel_fails(linker, kernel, DIAG_missing_attribute,
                              "the kernel '@%.*s' does not name its %s function: write function = "
                              "\"FUNCTION\"",
                              NAME(linker->module, kernel->name), core_type_name(part.core));
    }
    return ok;
}

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool add_kernel(struct linker *linker, uint32_t kernel_id, uint32_t copies)
{
    const struct module *module = linker->module;
    const struct kernel *kernel = &module->kernels.at[kernel_id];
    if (kernel_is_stub(module, kernel)) { /* its functions are among the entries */
        assert(!linker->keep);
        return true;
    }
    const struct kernel_object *object = kernel_object_of(&linker->objects, module, kernel);
    bool own = attr_find(module, kernel->attrs, W_split);
    if (!object)
        return no_object(linker, kernel, attr_string(module, kernel->attrs, W_object));
    if (same_file(object->path, linker->output))
        return kernel_fails(linker, kernel, DIAG_file,
                            "the output '%s' would replace the object of '@%.*s'", linker->output,
                            NAME(module, kernel->name));
    if (object->error)
        return kernel_fails(linker, kernel, DIAG_kernel_object, "%s", object->error);
    object_link_add_file(linker->link, kernel_group(linker, kernel_id, 0), object->path);
    for (uint32_t copy = 0; copy < copies; copy++) {
        if (!export_functions(linker, kernel_id, object, copy))
            return false;
        if (copy && !own)
            object_link_copy(linker->link, kernel_group(linker, kernel_id, 0),
                             kernel_group(linker, kernel_id, copy));
    }
    return true;
}

static void begin_link(struct linker *linker, const struct module *module,
                       const struct backend_places *places, const char *output, struct diags *diags)
{
    *linker = (struct linker){
        .link = object_link_new(), .module = module, .output = output, .diags = diags};
    kernel_objects_init(&linker->objects, places);
}

/* Adds as many copies of each kernel, and writes the link. */
static enum backend_status finish_link(struct linker *linker, const uint8_t *copies)
{
    bool ok = true;
    for (uint32_t i = 0; i < linker->module->kernels.count; i++)
        if (copies[i])
            ok = add_kernel(linker, i, copies[i]) && ok;
    if (ok && !object_link_write(linker->link, linker->output)) {
        diag_at(linker->diags, DIAG_link, no_span, "%s", object_link_error(linker->link));
        ok = false;
    }
    object_link_free(linker->link);
    kernel_objects_free(&linker->objects);
    return ok ? BACKEND_OK : BACKEND_INPUT;
}

enum backend_status device_link_kernels(const struct module *module,
                                        const struct backend_places *places, const uint8_t *used,
                                        const char *output, struct diags *diags)
{
    struct linker linker;
    begin_link(&linker, module, places, output, diags);
    linker.keep = true;
    return finish_link(&linker, used);
}

/* ------------------------------------------------------------------------- entries ---- */

uint8_t *device_kernel_copies(const struct module *module)
{
    uint8_t *copies = mem_calloc(module->kernels.count, 1);
    for (uint32_t e = 0; e < module->entries.count; e++) {
        uint8_t wanted = (uint8_t)attr_int(module, module->entries.at[e].attrs, W_split, 1);
        for (int core = 0; core < CORE_TYPES; core++) {
            const struct program *program = &module->entries.at[e].programs[core];
            for (uint32_t i = 0; i < program->instrs.count; i++) {
                enum instr_op op = program->instrs.at[i].op;
                if (op != INSTR_call && op != INSTR_select)
                    continue;
                const struct kernel *kernel = module_kernel(module, program->instrs.at[i].kernel);
                uint8_t *of = &copies[kernel_id(module, kernel)];
                *of = wanted > *of ? wanted : *of;
            }
        }
    }
    return copies;
}

static void keep_entries(struct object_link *link, const struct module *module)
{
    for (uint32_t i = 0; i < module->entries.count; i++) {
        struct text symbol = {NULL, 0, 0};
        device_entry_symbol(&symbol, module, &module->entries.at[i]);
        text_char(&symbol, '\0');
        object_link_export(link, ENTRY_GROUP, symbol.at, symbol.at);
        object_link_keep(link, symbol.at);
        text_free(&symbol);
    }
}

enum backend_status device_link_entries(const struct module *module,
                                        const struct backend_places *places,
                                        const char *const *objects, const char *output,
                                        struct diags *diags)
{
    struct linker linker;
    begin_link(&linker, module, places, output, diags);
    uint8_t *copies = device_kernel_copies(module);
    for (; *objects; objects++)
        object_link_add_file(linker.link, ENTRY_GROUP, *objects);
    keep_entries(linker.link, module);
    enum backend_status status = finish_link(&linker, copies);
    mem_free(copies);
    return status;
}
