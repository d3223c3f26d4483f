#include "backend/host_build.h"
#include "backend/host_emit.h"
#include "backend/host_objects.h"
#include "backend/object.h"
#include "backend/tool.h"
#include "ir/file.h"
#include "ir/locate.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct span no_span = {0, 0};

enum { ENTRY_GROUP = 0 }; /* of the link; that of kernel k is k + 1 */

/* ------------------------------------------------------------------------- kernels ---- */

/* One link of kernels, and what is said about it. */
struct linker {
    struct object_link *link;
    const struct module *module;
    struct host_objects objects;
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
            diag_note(linker->diags, no_span,
                      "write object = \"FILE.o\", the file with its function");
        return false;
    }
    if (diag_at(linker->diags, DIAG_kernel_object, span,
                "the object '%.*s' of '@%.*s' is not there", NAME(module, object),
                NAME(module, kernel->name)))
        diag_note(linker->diags, no_span, "it was looked for in '%s' and '%s'",
                  linker->objects.places->source_dir, linker->objects.places->kernel_dir);
    return false;
}

/* Renames one function of a kernel to what the entries call. */
static bool export_function(const struct linker *linker, uint32_t kernel_id, enum core_type core,
                            const struct host_object *object, uint32_t name)
{
    const struct kernel *kernel = &linker->module->kernels.at[kernel_id];
    const struct host_function *function =
        host_object_function(object, &linker->module->names.names[name]);
    if (!function)
        return kernel_fails(linker, kernel, DIAG_kernel_object,
                            "'%s' does not define the function '%.*s' of '@%.*s'", object->path,
                            NAME(linker->module, name), NAME(linker->module, kernel->name));
    struct text symbol = {NULL, 0, 0};
    host_kernel_symbol(&symbol, linker->module, kernel_id, core);
    text_char(&symbol, '\0');
    object_link_export(linker->link, kernel_id + 1, function->name, symbol.at);
    if (linker->keep)
        object_link_keep(linker->link, symbol.at);
    text_free(&symbol);
    return true;
}

static bool export_functions(const struct linker *linker, uint32_t kernel_id,
                             const struct host_object *object)
{
    const struct kernel *kernel = &linker->module->kernels.at[kernel_id];
    bool ok = true;
    if (object->error)
        return kernel_fails(linker, kernel, DIAG_kernel_object, "%s", object->error);
    for (int core = 0; core < CORE_TYPES && ok; core++) {
        uint32_t function = kernel_function(linker->module, kernel, core);
        if (function != NONE)
            ok = export_function(linker, kernel_id, core, object, function);
        else if (kernel_type_has(kernel->type, core))
            ok = kernel_fails(linker, kernel, DIAG_missing_attribute,
                              "the kernel '@%.*s' does not name its %s function: write entry = "
                              "\"FUNCTION\"",
                              NAME(linker->module, kernel->name), core_type_name(core));
    }
    return ok;
}

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool add_kernel(struct linker *linker, uint32_t kernel_id)
{
    const struct module *module = linker->module;
    const struct kernel *kernel = &module->kernels.at[kernel_id];
    const struct host_object *object = host_object_of(&linker->objects, module, kernel);
    if (!object)
        return no_object(linker, kernel, attr_string(module, kernel->attrs, W_object));
    if (same_file(object->path, linker->output))
        return kernel_fails(linker, kernel, DIAG_file,
                            "the output '%s' would replace the object of '@%.*s'", linker->output,
                            NAME(module, kernel->name));
    if (!export_functions(linker, kernel_id, object))
        return false;
    object_link_add_file(linker->link, kernel_id + 1, object->path);
    return true;
}

/* Adds the kernels that `used` marks, and writes the link. */
static enum host_status finish_link(struct linker *linker, const uint8_t *used)
{
    bool ok = true;
    for (uint32_t i = 0; i < linker->module->kernels.count; i++)
        if (used[i])
            ok = add_kernel(linker, i) && ok;
    if (ok && !object_link_write(linker->link, linker->output)) {
        diag_at(linker->diags, DIAG_link, no_span, "%s", object_link_error(linker->link));
        ok = false;
    }
    object_link_free(linker->link);
    host_objects_free(&linker->objects);
    return ok ? HOST_OK : HOST_INPUT;
}

enum host_status host_link_kernels(const struct module *module, const struct host_places *places,
                                   const uint8_t *used, const char *output, struct diags *diags)
{
    struct linker linker = {object_link_new(), module, {.places = places}, output, true, diags};
    return finish_link(&linker, used);
}

/* ------------------------------------------------------------------------- entries ---- */

static uint8_t *called_kernels(const struct module *module)
{
    uint8_t *used = mem_calloc(module->kernels.count, 1);
    uint32_t *index = module_kernel_index(module);
    for (uint32_t e = 0; e < module->entries.count; e++)
        for (int core = 0; core < CORE_TYPES; core++) {
            const struct program *program = &module->entries.at[e].programs[core];
            for (uint32_t i = 0; i < program->instrs.count; i++)
                if (program->instrs.at[i].op == INSTR_call)
                    used[index[program->instrs.at[i].kernel] - 1] = 1;
        }
    free(index);
    return used;
}

static void keep_entries(struct object_link *link, const struct module *module)
{
    for (uint32_t i = 0; i < module->entries.count; i++) {
        struct text symbol = {NULL, 0, 0};
        host_entry_symbol(&symbol, module, &module->entries.at[i]);
        text_char(&symbol, '\0');
        object_link_export(link, ENTRY_GROUP, symbol.at, symbol.at);
        object_link_keep(link, symbol.at);
        text_free(&symbol);
    }
}

static enum host_status run_cc(const char *const *args, struct diags *diags)
{
    char error[2600];
    if (tool_run_cc(args, error, sizeof error))
        return HOST_OK;
    char *rest, *line = strtok_r(error, "\n", &rest);
    if (diag_at(diags, DIAG_tool, no_span, "%s", line))
        while ((line = strtok_r(NULL, "\n", &rest)))
            diag_note(diags, no_span, "%s", line);
    return HOST_TOOL;
}

/* The entries' C source as an object. */
static enum host_status compile_entries(const struct text *source, const char *folder,
                                        const struct host_places *places, const char *object,
                                        struct diags *diags)
{
    struct arena scratch = {NULL, 0};
    char error[512];
    const char *path = arena_printf(&scratch, "%s/entry.c", folder);
    enum host_status status = HOST_INPUT;
    if (file_write(path, source->at, source->size, error, sizeof error)) {
        const char *include = arena_printf(&scratch, "-I%s", places->header_dir);
        const char *args[] = {"-std=gnu11", "-O1", "-fPIC", "-w", include,
                              "-c",         "-o",  object,  path, NULL};
        status = run_cc(args, diags);
    } else {
        diag_at(diags, DIAG_file, no_span, "%s", error);
    }
    arena_free(&scratch);
    return status;
}

static enum host_status link_module(const struct module *module, const struct host_places *places,
                                    const char *entry_object, const char *output,
                                    struct diags *diags)
{
    struct linker linker = {object_link_new(), module, {.places = places}, output, false, diags};
    uint8_t *used = called_kernels(module);
    object_link_add_file(linker.link, ENTRY_GROUP, entry_object);
    keep_entries(linker.link, module);
    enum host_status status = finish_link(&linker, used);
    free(used);
    return status;
}

enum host_status host_compile(const struct module *module, const struct host_places *places,
                              const char *output, struct diags *diags)
{
    struct text source = {NULL, 0, 0};
    struct arena scratch = {NULL, 0};
    enum host_status status = HOST_INPUT;
    char *folder = NULL;
    if (host_emit(&source, module, diags)) {
        folder = tool_make_folder();
        if (!folder)
            diag_at(diags, DIAG_file, no_span, "cannot make a temporary folder: %s",
                    strerror(errno));
    }
    if (folder) {
        const char *object = arena_printf(&scratch, "%s/entry.o", folder);
        status = compile_entries(&source, folder, places, object, diags);
        if (status == HOST_OK)
            status = link_module(module, places, object, output, diags);
        tool_remove_folder(folder);
    }
    text_free(&source);
    arena_free(&scratch);
    return status;
}

enum host_status host_make_shared(const char *object, const char *output, struct diags *diags)
{
    const char *args[] = {"-shared", "-o", output, object, "-lm", NULL};
    return run_cc(args, diags);
}
