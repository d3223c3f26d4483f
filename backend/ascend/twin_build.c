#include "backend/ascend/twin_build.h"
#include "backend/ascend/ascendc.h"
#include "backend/ascend/twin_glue.h"
#include "backend/device/link.h"
#include "backend/device/tools.h"
#include "ir/arch.h"

/* The numbers that the device compiler gives its chips. */
static const char *const arch_macros[] = {
    [ARCH_c220] = "-D__NPU_ARCH__=2201",
    [ARCH_c310] = "-D__NPU_ARCH__=3101",
};

static enum backend_status compile_source(const struct module *module, const struct text *source,
                                          const struct backend_places *places, const char *path,
                                          const char *object, struct diags *diags)
{
    struct arena scratch = {NULL, 0};
    const char *const args[] = {
        "-std=c++17",
        "-O1",
        "-fPIC",
        "-w",
        "-fno-exceptions",
        "-fno-rtti",
        arch_macros[module_arch(module)],
        "-include",
        arena_printf(&scratch, "%s/skrt.h", places->header_dir),
        "-include",
        arena_printf(&scratch, "%s/twin.h", places->header_dir),
        arena_printf(&scratch, "-I%s", places->header_dir),
        "-c",
        "-o",
        object,
        path,
        NULL,
    };
    enum backend_status status = device_write(source, path, diags);
    if (status == BACKEND_OK)
        status = device_run_cxx(args, diags);
    arena_free(&scratch);
    return status;
}

/* The source, what the twin knows of it, and the twin itself. */
static enum backend_status build(const struct module *module, const struct text *source,
                                 const struct text *glue, const struct backend_places *places,
                                 const char *folder, const char *output, struct diags *diags)
{
    struct arena scratch = {NULL, 0};
    const char *const objects[] = {arena_printf(&scratch, "%s/entry.o", folder),
                                   arena_printf(&scratch, "%s/glue.o", folder),
                                   arena_printf(&scratch, "%s/twin.o", places->header_dir), NULL};
    const char *path = arena_printf(&scratch, "%s/entry.cpp", folder);
    enum backend_status status = compile_source(module, source, places, path, objects[0], diags);
    path = arena_printf(&scratch, "%s/glue.c", folder);
    if (status == BACKEND_OK)
        status = device_compile(glue, path, places, objects[1], diags);
    if (status == BACKEND_OK)
        status = device_link_entries(module, places, objects, output, diags);
    arena_free(&scratch);
    return status;
}

enum backend_status twin_compile(const struct module *module, const struct backend_places *places,
                                 const char *output, struct diags *diags)
{
    struct text source = {NULL, 0, 0}, glue = {NULL, 0, 0};
    struct source_lines lines = {NULL, 0, 0};
    struct tool_folder folder;
    enum backend_status status = BACKEND_INPUT;
    if (ascendc_emit(&source, module, &lines, diags) && device_make_folder(&folder, diags)) {
        twin_glue(&glue, module, &lines);
        status = build(module, &source, &glue, places, folder.path, output, diags);
        tool_folder_remove(&folder);
    }
    text_free(&source);
    text_free(&glue);
    vec_free(&lines);
    return status;
}
