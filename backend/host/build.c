#include "backend/host/build.h"
#include "backend/device/link.h"
#include "backend/device/tools.h"
#include "backend/host/emit.h"

enum backend_status host_compile(const struct module *module, const struct backend_places *places,
                                 const char *output, struct diags *diags)
{
    struct text source = {NULL, 0, 0};
    struct arena scratch = {NULL, 0};
    struct tool_folder folder;
    enum backend_status status = BACKEND_INPUT;
    if (host_emit(&source, module, diags) && device_make_folder(&folder, diags)) {
        const char *path = arena_printf(&scratch, "%s/entry.c", folder.path);
        const char *objects[] = {arena_printf(&scratch, "%s/entry.o", folder.path), NULL};
        status = device_compile(&source, path, places, objects[0], diags);
        if (status == BACKEND_OK)
            status = device_link_entries(module, places, objects, NULL, output, diags);
        tool_folder_remove(&folder);
    }
    text_free(&source);
    arena_free(&scratch);
    return status;
}
