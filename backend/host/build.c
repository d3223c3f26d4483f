#include "backend/host/build.h"
#include "backend/device/link.h"
#include "backend/device/tools.h"
#include "backend/host/emit.h"
#include "backend/host/object.h"

#include <elf.h>

enum backend_status host_compile_source(const struct module *module,
                                        const struct backend_places *places,
                                        struct device_output *output, struct diags *diags)
{
    struct text source = {NULL, 0, 0};
    struct arena scratch = {NULL, 0};
    struct tool_folder folder;
    enum backend_status status = BACKEND_INPUT;
    if (host_emit(&source, module, diags) && device_make_folder(&folder, diags)) {
        const char *path = arena_printf(&scratch, "%s/entry.c", folder.path);
        const struct device_entries entries = {
            .files = {arena_printf(&scratch, "%s/entry.o", folder.path)}};
        status = device_compile(&source, path, places, entries.files[0], diags);
        if (status == BACKEND_OK)
            status = device_link_entries(module, places, &entries, output, diags);
        tool_folder_remove(&folder);
    }
    text_free(&source);
    arena_free(&scratch);
    return status;
}

enum backend_status host_compile(const struct module *module, const struct backend_places *places,
                                 struct device_output *output, struct diags *diags)
{
    if (object_this_machine() == EM_NONE)
        return host_compile_source(module, places, output, diags);
    const struct device_entries entries = {
        .made = host_make_object(module, object_this_machine(), diags)};
    if (!entries.made)
        return BACKEND_INPUT;
    enum backend_status status = device_link_entries(module, places, &entries, output, diags);
    object_made_free(entries.made);
    return status;
}
