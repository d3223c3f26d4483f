#include "frontend/cli/named_files.h"
#include "ir/base/file.h"
#include "ir/contents.h"
#include "ir/syntax/locate.h"

#include <string.h>
#include <sys/stat.h>

struct check {
    struct input *input;
    struct known_file output;
    const char *folder, *kernel_dir; /* the second may be NULL */
    struct arena arena;
};

static bool is_output(struct check *check, const char *folder, uint32_t name)
{
    const char *path = name_text(check->input->module, name, &check->arena);
    if (*path != '/')
        path = arena_path(&check->arena, folder, path);
    return known_file_is(&check->output, path);
}

static bool keeps_includes(struct check *check)
{
    const struct module *module = check->input->module;
    for (uint32_t i = 0; i < module->includes.count; i++) {
        const struct include *include = &module->includes.at[i];
        if (!is_output(check, check->folder, include->path))
            continue;
        diag_at(&check->input->diags, DIAG_file, locate_token(module, include->loc),
                "the output '%s' would replace a file that is included", check->output.path);
        return false;
    }
    return true;
}

static bool keeps_file_of(struct check *check, const struct kernel *kernel, enum word key,
                          const char *what)
{
    const struct module *module = check->input->module;
    uint32_t name = attr_string(module, kernel->attrs, key);
    bool is = name != NONE && (is_output(check, check->folder, name) ||
                               (check->kernel_dir && is_output(check, check->kernel_dir, name)));
    if (is)
        diag_at(&check->input->diags, DIAG_file, locate_name(module, kernel->loc),
                "the output '%s' would replace the %s of '@%.*s'", check->output.path, what,
                NAME(module, kernel->name));
    return !is;
}

static bool keeps_kernels(struct check *check)
{
    const struct module *module = check->input->module;
    for (uint32_t i = 0; i < module->kernels.count; i++) {
        const struct kernel *kernel = &module->kernels.at[i];
        if (!keeps_file_of(check, kernel, W_object, "object") ||
            !keeps_file_of(check, kernel, W__json, "metadata"))
            return false;
    }
    return true;
}

static bool keeps_contents(struct check *check, const struct graph *graph)
{
    const struct module *module = check->input->module;
    for (uint32_t i = 0; i < graph->ops.count; i++) {
        const struct attr *attr = op_contents_attr(module, graph, &graph->ops.at[i]);
        if (!attr || attr->value.kind != ATTR_DICT)
            continue;
        const struct range keys = {attr->value.first, attr->value.count};
        uint32_t name = attr_string(module, keys, W_file);
        if (name == NONE || !is_output(check, check->folder, name))
            continue;
        diag_at(&check->input->diags, DIAG_file, locate_token(module, attr->loc),
                "the output '%s' would replace the contents of '%%%.*s'", check->output.path,
                NAME(module, graph->values.at[graph->ops.at[i].results.first].name));
        return false;
    }
    return true;
}

static bool keeps_all(struct check *check)
{
    const struct module *module = check->input->module;
    bool keeps = keeps_includes(check) && keeps_kernels(check);
    for (uint32_t i = 0; keeps && i < module->graphs.count; i++)
        keeps = keeps_contents(check, &module->graphs.at[i]);
    return keeps;
}

bool named_files_stay(struct input *input, const char *output)
{
    struct stat st;
    const struct invocation *invocation = input->invocation;
    if (!input->module || strcmp(output, "-") == 0 || stat(output, &st) != 0 ||
        !S_ISREG(st.st_mode))
        return true;
    char *folder = path_folder(input->path);
    struct check check = {.input = input,
                          .output = known_file_of(output),
                          .folder = folder,
                          .kernel_dir = option_exists(invocation, "kernel-dir")
                                            ? option_value(invocation, "kernel-dir")
                                            : NULL};
    bool keeps = keeps_all(&check);
    arena_free(&check.arena);
    mem_free(folder);
    return keeps;
}
