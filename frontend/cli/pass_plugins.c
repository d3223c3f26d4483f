#include "frontend/cli/pass_plugins.h"
#include "frontend/cli/shared_object.h"
#include "ir/base/text.h"
#include "passes/pass_plugin.h"

#include <dlfcn.h>

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
    for (unsigned i = 0; option_exists(invocation, "pass-plugin") &&
                         (path = option_value_at(invocation, "pass-plugin", i));
         i++)
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
