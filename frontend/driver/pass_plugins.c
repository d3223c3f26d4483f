#include "frontend/driver/child_process.h"
#include "frontend/driver/pass_plugins.h"
#include "ir/support/file.h"
#include "ir/support/text.h"
#include "ir/support/tool.h"
#include "passes/pass_plugin.h"

#include <dlfcn.h>
#include <elf.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------- shared objects ---- */

/* dlopen maps what the file's headers name: of a file that is cut off, as an interrupted copy or
 * build leaves it, that ends in a SIGBUS. */
struct object_file {
    const char *path;
    int fd;
    uint64_t size;
    char *error;
    size_t error_size;
};

static bool fail(const struct object_file *file, const char *what)
{
    return message_fail(file->error, file->error_size, "'%s' %s", file->path, what);
}

static bool fail_short(const struct object_file *file)
{
    return fail(file, "is cut off: its headers name bytes behind its end; build or copy it again");
}

static bool is_inside(const struct object_file *file, uint64_t offset, uint64_t size)
{
    return offset <= file->size && size <= file->size - offset;
}

static bool read_at(const struct object_file *file, uint64_t offset, void *data, size_t size)
{
    return file_read_at(file->fd, file->path, offset, data, size, file->error, file->error_size);
}

static bool check_file(const struct object_file *file)
{
    Elf64_Ehdr header;
    if (file->size < sizeof header)
        return fail(file, "is no shared object");
    if (!read_at(file, 0, &header, sizeof header))
        return false;
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_type != ET_DYN || header.e_phentsize != sizeof(Elf64_Phdr))
        return fail(file, "is no shared object");
    if (!is_inside(file, header.e_phoff, (uint64_t)header.e_phnum * header.e_phentsize) ||
        !is_inside(file, header.e_shoff, (uint64_t)header.e_shnum * header.e_shentsize))
        return fail_short(file);
    for (uint64_t i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        if (!read_at(file, header.e_phoff + i * sizeof segment, &segment, sizeof segment))
            return false;
        if (!is_inside(file, segment.p_offset, segment.p_filesz))
            return fail_short(file);
    }
    return true;
}

static bool shared_object_check(const char *path, char *error, size_t error_size)
{
    struct object_file file = {.path = path, .error = error, .error_size = error_size};
    file.fd = file_open_regular(path, &file.size, error, error_size);
    if (file.fd < 0)
        return false;
    bool ok = check_file(&file);
    close(file.fd);
    return ok;
}

/* -------------------------------------------------------------------------- plugins ---- */

/* dlopen looks for a name without a slash elsewhere than in the working folder. */
static void *open_file(const char *path)
{
    struct text text = {NULL, 0, 0};
    text_printf(&text, "%s%s%c", strchr(path, '/') ? "" : "./", path, 0);
    void *handle = dlopen(text.at, RTLD_NOW | RTLD_LOCAL);
    text_free(&text);
    return handle;
}

static bool check_plugin(const struct pass_plugin *plugin, const char *path, FILE *err)
{
    if (plugin->interface != SKIR_PASS_PLUGIN_INTERFACE)
        fprintf(
            err,
            "skirc: --pass-plugin: '%s' is for version %u of the interface of plugins, and this "
            "skirc has version %u\n",
            path, plugin->interface, SKIR_PASS_PLUGIN_INTERFACE);
    else if (plugin->headers != SKIR_PLUGIN_HEADERS)
        fprintf(err,
                "skirc: --pass-plugin: '%s' was built by the headers of another skirc; build it "
                "again by those of this one\n",
                path);
    else
        return true;
    return false;
}

/* `path` outlives the passes, as all arguments do. */
static bool add_passes(struct pass_plugins *plugins, struct loaded_plugin *loaded,
                       const struct pass_plugin *plugin, const char *path, FILE *err)
{
    char error[512];
    loaded->passes = mem_calloc(plugin->count, sizeof *loaded->passes);
    for (uint32_t i = 0; i < plugin->count; i++) {
        const struct plugin_pass *row = &plugin->passes[i];
        loaded->passes[i] = (struct pass){row->name,  row->summary, row->run,           row->needs,
                                          row->gives, row->changes, row->after != NULL, path};
        if (pass_table_add(&plugins->table, &loaded->passes[i], row->after, error, sizeof error))
            continue;
        fprintf(err, "skirc: --pass-plugin: '%s': %s\n", path, error);
        return false;
    }
    return true;
}

static bool load(struct pass_plugins *plugins, const char *path, FILE *err)
{
    char error[512];
    if (!shared_object_check(path, error, sizeof error)) {
        fprintf(err, "skirc: --pass-plugin: %s\n", error);
        return false;
    }
    struct text what = {NULL, 0, 0};
    text_printf(&what, "the pass plugin '%s'%c", path, 0);
    child_code_begins(what.at, (uint64_t)tool_timeout()); /* until the command ends */
    text_free(&what);
    void *handle = open_file(path);
    if (!handle) {
        fprintf(err, "skirc: --pass-plugin: %s\n", dlerror());
        return false;
    }
    vec_push(&plugins->loaded, (struct loaded_plugin){handle, NULL});
    const struct pass_plugin *plugin = dlsym(handle, "skir_pass_plugin");
    if (!plugin) {
        fprintf(err,
                "skirc: --pass-plugin: '%s' has no 'skir_pass_plugin', which SKIR_PASS_PLUGIN(...) "
                "of passes/pass_plugin.h makes\n",
                path);
        return false;
    }
    struct loaded_plugin *loaded = &plugins->loaded.at[plugins->loaded.count - 1];
    return check_plugin(plugin, path, err) && add_passes(plugins, loaded, plugin, path, err);
}

enum exit_status pass_plugins_open(struct pass_plugins *plugins,
                                   const struct invocation *invocation)
{
    const char *path;
    *plugins = (struct pass_plugins){.table = {NULL, 0, 0}};
    pass_table_init(&plugins->table);
    for (unsigned i = 0; (path = option_value_at(invocation, "pass-plugin", i)); i++)
        if (!load(plugins, path, invocation->err))
            return EXIT_INPUT;
    return EXIT_DONE;
}

void pass_plugins_close(struct pass_plugins *plugins)
{
    pass_table_free(&plugins->table);
    for (uint32_t i = 0; i < plugins->loaded.count; i++) {
        mem_free(plugins->loaded.at[i].passes);
        dlclose(plugins->loaded.at[i].handle);
    }
    vec_free(&plugins->loaded);
}
