#include "frontend/driver/pass_plugins.h"
#include "frontend/driver/child_process.h"
#include "ir/support/file.h"
#include "ir/support/text.h"
#include "ir/support/tool.h"
#include "passes/pass_plugin.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

/* Loads a plugin, and adds its passes. `path` outlives them, as all arguments do. */
static bool load(struct pass_plugins *plugins, const struct invocation *invocation,
                 const char *path)
{
    struct text text = {NULL, 0, 0};
    uint64_t size;
    char error[512];
    int fd = file_open_regular(path, &size, error, sizeof error); /* no output may replace it */
    if (fd < 0)
        return input_fail(invocation, "--pass-plugin: %s", error);
    close(fd);
    text_printf(&text, "the pass plugin '%s'%c", path, 0);
    /* until the command ends */
    child_code_begins(text.at, (uint64_t)tool_timeout(), EXIT_DEFECT);
    /* dlopen looks for a name without a slash elsewhere than in the working folder. */
    text.size = 0;
    text_printf(&text, "%s%s%c", strchr(path, '/') ? "" : "./", path, 0);
    void *handle = dlopen(text.at, RTLD_NOW | RTLD_LOCAL);
    text_free(&text);
    if (!handle)
        return input_fail(invocation, "--pass-plugin: %s", dlerror());
    vec_push(&plugins->loaded, (struct loaded_plugin){handle, NULL});
    const struct pass_plugin *plugin = dlsym(handle, "skir_pass_plugin");
    if (!plugin)
        return input_fail(invocation,
                          "--pass-plugin: '%s' has no 'skir_pass_plugin', which "
                          "SKIR_PASS_PLUGIN(...) of passes/pass_plugin.h makes",
                          path);
    if (plugin->interface != SKIR_PASS_PLUGIN_INTERFACE)
        return input_fail(invocation,
                          "--pass-plugin: '%s' is for version %u of the interface of plugins, and "
                          "this skirc has version %u",
                          path, plugin->interface, SKIR_PASS_PLUGIN_INTERFACE);
    if (plugin->headers != SKIR_PLUGIN_HEADERS)
        return input_fail(invocation,
                          "--pass-plugin: '%s' was built by the headers of another skirc; build it "
                          "again by those of this one",
                          path);
    struct pass *passes = mem_calloc(plugin->count, sizeof *passes);
    plugins->loaded.at[plugins->loaded.count - 1].passes = passes;
    for (uint32_t i = 0; i < plugin->count; i++) {
        const struct plugin_pass *row = &plugin->passes[i];
        passes[i] = (struct pass){row->name,  row->summary, row->run,           row->needs,
                                  row->gives, row->changes, row->after != NULL, path};
        if (!pass_table_add(&plugins->table, &passes[i], row->after, error, sizeof error))
            return input_fail(invocation, "--pass-plugin: '%s': %s", path, error);
    }
    return true;
}

enum exit_status pass_plugins_open(struct pass_plugins *plugins,
                                   const struct invocation *invocation)
{
    const char *path;
    *plugins = (struct pass_plugins){.table = {NULL, 0, 0}};
    pass_table_init(&plugins->table);
    for (unsigned i = 0; (path = option_value_at(invocation, "pass-plugin", i)); i++)
        if (!load(plugins, invocation, path))
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
