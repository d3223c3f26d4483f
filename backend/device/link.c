/* Links for this machine: symbols of kernels and entries, the compilers of the machine, links of
 * entries with the kernels that they call, and linked code in this process. */
#include "backend/device/link.h"

#include <assert.h>
#include <ctype.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "backend/library/kernel_link.h"
#include "ir/core/kernel.h"
#include "ir/support/file.h"

static bool begins_with(const struct intern_name *name, const char *prefix)
{
    size_t size = strlen(prefix);
    return name->size >= size && memcmp(name->text, prefix, size) == 0;
}

/* A kernel's name never ends like this, for the symbols of its parts and of their copies do. */
static bool ends_as_part(const struct intern_name *name)
{
    static const char split[] = "_split";
    const size_t split_size = sizeof split - 1;
    size_t size = name->size;
    while (size && isdigit((unsigned char)name->text[size - 1]))
        size--;
    if (size < name->size && size > split_size &&
        memcmp(name->text + size - split_size, split, split_size) == 0)
        size -= split_size;
    else
        size = name->size;
    const char *end = name->text + size;
    return size > 4 && (memcmp(end - 4, ".aic", 4) == 0 || memcmp(end - 4, ".aiv", 4) == 0);
}

/* Names that assemblers take as they are, and that no symbol of skirc or of the runtime can have;
 * others are numbered. */
static bool is_symbol(const struct intern_name *name)
{
    if (begins_with(name, "skir_") || begins_with(name, "skrt_") || ends_as_part(name))
        return false;
    for (uint32_t i = 0; i < name->size; i++)
        if (!isalnum((unsigned char)name->text[i]) && name->text[i] != '_' &&
            name->text[i] != '.' && name->text[i] != '$')
            return false;
    return name->size > 0 && !isdigit((unsigned char)name->text[0]);
}

static void put_symbol(struct text *text, const struct module *module, uint32_t name,
                       const char *kind, uint32_t number)
{
    if (is_symbol(&module->names.names[name]))
        text_printf(text, "%.*s", NAME(module, name));
    else
        text_printf(text, "skir_%s_%u", kind, number);
}

void device_kernel_symbol(struct text *text, const struct module *module, uint32_t kernel,
                          enum core_type core)
{
    assert(kernel < module->kernels.count);
    put_symbol(text, module, module->kernels.at[kernel].name, "kernel", kernel);
    text_printf(text, ".%s", core_type_name(core));
}

static void put_copy(struct text *text, uint32_t copy)
{
    if (copy)
        text_printf(text, "_split%u", copy);
}

void device_copy_symbol(struct text *text, const struct module *module, uint32_t kernel,
                        enum core_type core, uint32_t copy)
{
    device_kernel_symbol(text, module, kernel, core);
    put_copy(text, copy);
}

/* The first place where a dynamic kernel names a function. */
static uint32_t first_variant(const struct module *module, const struct kernel *kernel,
                              uint32_t function, enum core_type *core)
{
    for (uint32_t i = 0; i < kernel_variants(module, kernel); i++) {
        struct variant variant = kernel_variant(module, kernel, i);
        for (int c = 0; c < CORE_TYPES; c++) {
            if (variant.functions[c] != function)
                continue;
            *core = (enum core_type)c;
            return i;
        }
    }
    return NONE;
}

/* A kernel's parts are named after it; what its name would be with a number after it may be
 * another kernel's. */
void device_variant_symbol(struct text *text, const struct module *module, uint32_t kernel,
                           uint32_t variant, enum core_type core, uint32_t copy)
{
    const struct kernel *of = &module->kernels.at[kernel];
    uint32_t function = kernel_variant(module, of, variant).functions[core];
    variant = first_variant(module, of, function, &core);
    assert(function != NONE && variant != NONE);
    text_printf(text, "skir_variant_%u_%u.%s", kernel, variant, core_type_name(core));
    put_copy(text, copy);
}

void device_entry_symbol(struct text *text, const struct module *module, const struct entry *entry)
{
    put_symbol(text, module, entry->name, "entry", entry_id(module, entry));
}

void device_gears_symbol(struct text *text, const struct module *module, uint32_t graph)
{
    put_symbol(text, module, module->graphs.at[graph].name, "gears", graph);
}

bool device_make_folder(struct tool_folder *folder, struct diags *diags)
{
    if (tool_folder_make(folder))
        return true;
    diag_at(diags, DIAG_file, no_span, "cannot make a temporary folder: %s", strerror(errno));
    return false;
}

/* What a tool said, its first line first. */
static enum backend_status tool_fails(char *error, struct diags *diags)
{
    char *rest, *line = strtok_r(error, "\n", &rest);
    if (diag_at(diags, DIAG_tool, no_span, "%s", line))
        while ((line = strtok_r(NULL, "\n", &rest)))
            diag_help(diags, "%s", line);
    return BACKEND_TOOL;
}

/* Not all programs that end well are compilers. */
static enum backend_status check_made(const char *path, const char *command, const char *variable,
                                      const char *language, struct diags *diags)
{
    char magic[SELFMAG], error[512];
    if (file_read_part(path, 0, magic, sizeof magic, error, sizeof error) &&
        memcmp(magic, ELFMAG, SELFMAG) == 0)
        return BACKEND_OK;
    diag_at(diags, DIAG_tool, no_span, "'%s' has ended well, but has made no %s", command,
            access(path, F_OK) == 0 ? "object: what it has written is none" : "file");
    diag_help(diags, "%s names the %s compiler", variable, language);
    return BACKEND_TOOL;
}

static enum backend_status check_made_by_cc(const char *path, struct diags *diags)
{
    return check_made(path, tool_cc(), "CC", "C", diags);
}

enum backend_status device_run_cxx(const char *const *args, const char *object, struct diags *diags)
{
    char error[2600];
    return tool_run_cxx(args, error, sizeof error)
               ? check_made(object, tool_cxx(), "CXX", "C++", diags)
               : tool_fails(error, diags);
}

enum backend_status device_write(const struct text *text, const char *path, struct diags *diags)
{
    char error[512];
    if (file_write(path, text->at, text->size, error, sizeof error))
        return BACKEND_OK;
    diag_at(diags, DIAG_file, no_span, "%s", error);
    return BACKEND_INPUT;
}

enum backend_status device_compile(const struct text *source, const char *path,
                                   const struct backend_places *places, const char *object,
                                   struct diags *diags)
{
    struct arena scratch = {NULL, 0};
    const char *include = arena_printf(&scratch, "-I%s", places->header_dir);
    const char *args[] = {"-std=gnu11", "-O1", "-fPIC", "-w", include,
                          "-c",         "-o",  object,  path, NULL};
    char error[2600];
    enum backend_status status = device_write(source, path, diags);
    if (status == BACKEND_OK)
        status = tool_run_cc(args, error, sizeof error) ? check_made_by_cc(object, diags)
                                                        : tool_fails(error, diags);
    arena_free(&scratch);
    return status;
}

/* A text in which others stand for a path. */
static void put_shown(struct text *text, const char *said, const char *path, const char *shown)
{
    const char *at;
    for (; (at = strstr(said, path)); said = at + strlen(path)) {
        text_bytes(text, said, (size_t)(at - said));
        text_string(text, shown);
    }
    text_string(text, said);
    text_char(text, '\0');
}

/* Makes a shared object of a relocatable one, which is called `shown` in what the linker says. */
static enum backend_status device_make_shared(const char *object, const char *shown,
                                              const char *output, struct diags *diags)
{
    const char *args[] = {"-shared", "-o", output, object, "-lm", NULL};
    char error[2600];
    struct text text = {NULL, 0, 0};
    if (tool_run_cc(args, error, sizeof error))
        return check_made_by_cc(output, diags);
    put_shown(&text, error, object, shown);
    enum backend_status status = tool_fails(text.at, diags);
    text_free(&text);
    return status;
}

enum { ENTRY_GROUP = 0 }; /* of the link; then come those of kernels */

/* The name of a part in links for this machine; `user` is the module. */
static void add_symbol(const void *user, struct text *text, const struct kernel *kernel,
                       struct kernel_part part, uint32_t copy)
{
    const struct module *module = user;
    uint32_t id = kernel_id(module, kernel);
    if (kernel_is_dynamic(module, kernel))
        device_variant_symbol(text, module, id, part.variant, part.core, copy);
    else
        device_copy_symbol(text, module, id, part.core, copy);
}

/* Without an output the link is only tried. */
static void begin_link(struct kernel_link *linker, const struct module *module,
                       const struct backend_places *places, struct device_output *output,
                       struct diags *diags)
{
    const struct kernel_names names = {.symbol = add_symbol, .user = module};
    kernel_link_begin(linker, module, places, &names, ENTRY_GROUP + 1, output ? output->path : NULL,
                      diags);
    linker->bytes = output ? &output->bytes : NULL;
    linker->size = output ? &output->size : NULL;
}

/* What messages call the entries. */
static const char caller[] = "the code that calls it";

/* Adds nothing but the machine that kernels' objects have to be for; freed behind the link. */
static struct object_made *add_caller(struct object_link *link)
{
    uint16_t machine = object_this_machine();
    struct object_made *made = machine ? object_made_new(machine) : NULL;
    if (made)
        object_link_add_made(link, ENTRY_GROUP, caller, made);
    return made;
}

enum backend_status device_link_kernels(const struct module *module,
                                        const struct backend_places *places, const uint8_t *used,
                                        struct device_output *output, struct diags *diags)
{
    struct kernel_link linker;
    begin_link(&linker, module, places, output, diags);
    linker.keep = true;
    struct object_made *made = add_caller(linker.link);
    enum backend_status status = kernel_link_finish(&linker, kernel_link_add(&linker, used));
    object_made_free(made);
    return status;
}

/* ------------------------------------------------------------------------- entries ---- */

/* How many of the cores of a type a call may run on, which are the first of them. */
static uint32_t reached_cores(const struct module *module, const struct kernel *kernel,
                              const struct instr *instr, int core)
{
    enum { MOST_AIVS = 2 }; /* of an AI core */
    const struct kernel_type_info *info = kernel_type_info(kernel->type);
    uint64_t blocks = (uint64_t)instr->number[1];
    uint64_t cores = core == CORE_AIV && !info->flat ? MOST_AIVS * blocks : blocks;
    bool all = instr->op != INSTR_call || kernel_is_dynamic(module, kernel);
    return all || cores > UINT8_MAX ? UINT8_MAX : (uint32_t)cores;
}

static void count_copies(const struct module *module, const struct entry *entry, int core,
                         struct kernel_copies *copies)
{
    const struct program *program = &entry->programs[core];
    uint8_t wanted = (uint8_t)attr_int(module, entry->attrs, W_split, 1);
    for (uint32_t i = 0; i < program->instrs.count; i++) {
        const struct instr *instr = &program->instrs.at[i];
        if (instr->op != INSTR_call && instr->op != INSTR_select)
            continue;
        const struct kernel *kernel = module_kernel(module, instr->kernel);
        uint32_t id = kernel_id(module, kernel);
        /* Copies that are there without cost, or differ by more than their code. */
        bool all = kernel_is_stub(module, kernel) || attr_find(module, kernel->attrs, W_split);
        uint32_t reached = all ? wanted : reached_cores(module, kernel, instr, core);
        uint8_t made = reached < wanted ? (uint8_t)reached : wanted;
        copies->chosen[id] = wanted > copies->chosen[id] ? wanted : copies->chosen[id];
        copies->made[id] = made > copies->made[id] ? made : copies->made[id];
    }
}

struct kernel_copies device_kernel_copies(const struct module *module)
{
    struct kernel_copies copies = {mem_calloc(module->kernels.count, 1),
                                   mem_calloc(module->kernels.count, 1)};
    for (uint32_t e = 0; e < module->entries.count; e++)
        for (int core = 0; core < CORE_TYPES; core++)
            count_copies(module, &module->entries.at[e], core, &copies);
    return copies;
}

void kernel_copies_free(struct kernel_copies *copies)
{
    mem_free(copies->chosen);
    mem_free(copies->made);
}

/* Adds one of each kernel that no entry calls, but an op outside of super kernels; and forgets the
 * others, unless they are wanted, too. */
static void add_launched(const struct module *module, uint8_t *copies, bool called)
{
    uint8_t *launched = mem_calloc(module->kernels.count, 1);
    for (uint32_t g = 0; g < module->graphs.count; g++) {
        const struct graph *graph = &module->graphs.at[g];
        for (uint32_t i = 0; i < graph->ops.count; i++) {
            const struct op *op = &graph->ops.at[i];
            if (op->kernel != NONE && graph_superkernel(graph, op->block) == NONE)
                launched[kernel_id(module, module_kernel(module, op->kernel))] = 1;
        }
    }
    for (uint32_t i = 0; i < module->kernels.count; i++)
        copies[i] = copies[i] ? (called ? copies[i] : 0) : launched[i];
    mem_free(launched);
}

/* Keeps a symbol, which is that of another name in the group unless `own` is empty. Frees both. */
static void keep_symbol(struct object_link *link, struct text *symbol, struct text *own)
{
    text_char(symbol, '\0');
    text_char(own, '\0');
    object_link_export(link, ENTRY_GROUP, *own->at ? own->at : symbol->at, symbol->at);
    object_link_keep(link, symbol->at);
    text_free(symbol);
    text_free(own);
}

/* Entries, and without a prefix the tables of graphs with gears. */
static void keep_symbols(struct object_link *link, const struct module *module, const char *prefix)
{
    struct text symbol = {NULL, 0, 0}, own = {NULL, 0, 0};
    for (uint32_t i = 0; i < module->entries.count; i++) {
        device_entry_symbol(&symbol, module, &module->entries.at[i]);
        if (prefix)
            text_printf(&own, "%s%u", prefix, i);
        keep_symbol(link, &symbol, &own);
    }
    for (uint32_t i = 0; !prefix && i < module->graphs.count; i++) {
        if (module->graphs.at[i].cases.count == 0)
            continue;
        device_gears_symbol(&symbol, module, i);
        keep_symbol(link, &symbol, &own);
    }
}

static bool add_entries(struct object_link *link, const struct device_entries *entries,
                        struct diags *diags)
{
    bool ok = true;
    if (entries->made)
        ok = object_link_add_made(link, ENTRY_GROUP, caller, entries->made);
    for (size_t i = 0; ok && i < sizeof entries->files / sizeof entries->files[0]; i++)
        if (entries->files[i])
            ok = object_link_add_file(link, ENTRY_GROUP, entries->files[i]);
    if (!ok)
        diag_at(diags, DIAG_link, no_span, "%s", object_link_error(link));
    return ok;
}

/* What this process would call when the code is no longer there. */
static const char on_exit_name[] = "on_exit";

/* The address of what this process has for code that is loaded; NULL where it has no such thing.
 * Kernels may call what nothing else in this process does. */
static void *device_code_provided(const char *name)
{
    static void *libm;
    if (strcmp(name, on_exit_name) == 0)
        return NULL;
    void *found = dlsym(RTLD_DEFAULT, name);
    if (!found && !libm)
        libm = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
    return found || !libm ? found : dlsym(libm, name);
}

/* What loads the code has the runtime, which this process may lack. */
static bool is_provided(const char *name)
{
    return strncmp(name, "skrt_", 5) == 0 || device_code_provided(name) != NULL;
}

enum backend_status device_link_entries(const struct module *module,
                                        const struct backend_places *places,
                                        const struct device_entries *entries,
                                        struct device_output *output, struct diags *diags)
{
    struct kernel_link linker;
    begin_link(&linker, module, places, output, diags);
    linker.provided = output->path ? is_provided : NULL; /* else it is told when it is loaded */
    struct kernel_copies copies = device_kernel_copies(module);
    bool ok = add_entries(linker.link, entries, diags);
    keep_symbols(linker.link, module, entries->prefix);
    ok = ok && kernel_link_add(&linker, copies.made);
    kernel_copies_free(&copies);
    return kernel_link_finish(&linker, ok);
}

enum backend_status device_link_check(const struct module *module,
                                      const struct backend_places *places, bool called,
                                      struct diags *diags)
{
    struct kernel_link linker;
    begin_link(&linker, module, places, NULL, diags);
    linker.provided = is_provided;
    struct object_made *made = add_caller(linker.link);
    struct kernel_copies copies = device_kernel_copies(module);
    add_launched(module, copies.made, called);
    bool ok = kernel_link_add(&linker, copies.made);
    kernel_copies_free(&copies);
    enum backend_status status = kernel_link_finish(&linker, ok);
    object_made_free(made);
    return status;
}

static enum backend_status fails(struct diags *diags, const char *why)
{
    const char *name = strrchr(why, ' ');
    if (diag_at(diags, DIAG_link, no_span, "cannot load what was compiled: %s", why) && name &&
        strcmp(name + 1, on_exit_name) == 0)
        diag_help(diags, "kernels cannot use on_exit: their code is gone when the process ends; "
                         "atexit calls functions before that");
    return BACKEND_INPUT;
}

/* ------------------------------------------------------------------- the system's loader ---- */

/* Constructors and destructors are the only code that runs by itself. */
static void tell_code_runs(const struct device_origin *origin, const char *kind)
{
    char what[256];
    if (!origin->code_runs)
        return;
    snprintf(what, sizeof what, "a %s of %s", kind, origin->objects);
    origin->code_runs(what);
}

static void tell_code_returned(const struct device_origin *origin)
{
    if (origin->code_runs)
        origin->code_runs(NULL);
}

/* The folder is gone before anything runs, so that a launch that crashes, hangs or is interrupted
 * leaves nothing behind. */
static enum backend_status load_shared(struct device_code *code, const struct device_output *linked,
                                       struct diags *diags)
{
    struct tool_folder folder;
    struct arena scratch = {NULL, 0};
    char error[512];
    if (!device_make_folder(&folder, diags))
        return BACKEND_INPUT;
    const char *object = arena_printf(&scratch, "%s/linked.o", folder.path);
    const char *shared = arena_printf(&scratch, "%s/linked.so", folder.path);
    enum backend_status status = BACKEND_OK;
    if (!file_write(object, linked->bytes, linked->size, error, sizeof error)) {
        diag_at(diags, DIAG_file, no_span, "%s", error);
        status = BACKEND_INPUT;
    }
    if (status == BACKEND_OK)
        status = device_make_shared(object, code->origin.objects, shared, diags);
    if (status == BACKEND_OK) {
        tell_code_runs(&code->origin, "constructor");
        code->handle = dlopen(shared, RTLD_NOW | RTLD_LOCAL);
        tell_code_returned(&code->origin);
        status = code->handle ? BACKEND_OK : fails(diags, dlerror());
    }
    tool_folder_remove(&folder);
    arena_free(&scratch);
    return status;
}

/* -------------------------------------------------------------------------------- code ---- */

enum backend_status device_code_load(struct device_code *code, const struct device_output *linked,
                                     const struct device_origin *origin, struct diags *diags)
{
    char why[512];
    *code = (struct device_code){.origin = *origin};
    switch (object_image_load(linked->bytes, linked->size, device_code_provided, &code->image, why,
                              sizeof why)) {
    case OBJECT_IMAGE_LOADED: return BACKEND_OK;
    case OBJECT_IMAGE_OTHER: return load_shared(code, linked, diags);
    case OBJECT_IMAGE_FAILED: break;
    }
    return fails(diags, why);
}

void device_code_unload(struct device_code *code)
{
    object_image_free(code->image);
    if (code->handle) {
        tell_code_runs(&code->origin, "destructor");
        dlclose(code->handle);
        tell_code_returned(&code->origin);
    }
    *code = (struct device_code){.image = NULL};
}

void *device_code_find(const struct device_code *code, const char *name)
{
    return code->image    ? object_image_find(code->image, name)
           : code->handle ? dlsym(code->handle, name)
                          : NULL;
}
