#include "backend/ascend/twin_build.h"
#include "backend/ascend/ascendc.h"
#include "backend/ascend/launch_info.h"
#include "backend/ascend/twin_glue.h"
#include "backend/device/link.h"
#include "backend/device/tools.h"
#include "ir/arch.h"

/* The numbers that the device compiler gives its chips. */
static const char *const arch_macros[] = {
    [ARCH_c220] = "-D__NPU_ARCH__=2201",
    [ARCH_c310] = "-D__NPU_ARCH__=3510",
};

/* The definitions that the device compiler gets for the entries; its other options are its own. */
static void add_definitions(const struct module *module, struct arena *arena,
                            struct file_names *args)
{
    struct file_names options = {NULL, 0, 0};
    struct entry_finder finder;
    entry_finder_init(&finder, module);
    for (uint32_t i = 0; i < module->entries.count; i++) {
        struct launch_info info;
        launch_info_init(&info, &finder, &module->entries.at[i]);
        launch_info_compile_options(&info, arena, &options);
        launch_info_free(&info);
    }
    for (uint32_t i = 0; i < options.count; i++)
        if (strncmp(options.at[i], "-D", 2) == 0)
            vec_push(args, options.at[i]);
    entry_finder_free(&finder);
    vec_free(&options);
}

static enum backend_status compile_source(const struct module *module, const char *path,
                                          const struct backend_places *places, const char *object,
                                          struct diags *diags)
{
    static const char *const plain[] = {"-std=c++17",      "-O1",      "-fPIC", "-w",
                                        "-fno-exceptions", "-fno-rtti"};
    struct arena arena = {NULL, 0};
    struct file_names args = {NULL, 0, 0};
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        vec_push(&args, plain[i]);
    vec_push(&args, arch_macros[module_arch(module)]);
    add_definitions(module, &arena, &args);
    vec_push(&args, "-include");
    vec_push(&args, arena_printf(&arena, "%s/skrt.h", places->header_dir));
    vec_push(&args, "-include");
    vec_push(&args, arena_printf(&arena, "%s/twin.h", places->header_dir));
    vec_push(&args, arena_printf(&arena, "-I%s", places->header_dir));
    vec_push(&args, "-c");
    vec_push(&args, "-o");
    vec_push(&args, object);
    vec_push(&args, path);
    vec_push(&args, NULL);
    enum backend_status status = device_run_cxx((const char *const *)args.at, object, diags);
    vec_free(&args);
    arena_free(&arena);
    return status;
}

/* The source, what the twin knows of it, and the twin itself. */
static enum backend_status build(const struct module *module, const struct text *source,
                                 const struct text *glue, const struct backend_places *places,
                                 const char *folder, struct device_output *output,
                                 struct diags *diags)
{
    struct arena scratch = {NULL, 0};
    const struct device_entries entries = {
        .files = {arena_printf(&scratch, "%s/entry.o", folder),
                  arena_printf(&scratch, "%s/glue.o", folder),
                  arena_printf(&scratch, "%s/twin.o", places->header_dir)},
        .prefix = TWIN_ENTRY};
    const char *path = arena_printf(&scratch, "%s/entry.cpp", folder);
    enum backend_status status = device_write(source, path, diags);
    if (status == BACKEND_OK)
        status = compile_source(module, path, places, entries.files[0], diags);
    path = arena_printf(&scratch, "%s/glue.c", folder);
    if (status == BACKEND_OK)
        status = device_compile(glue, path, places, entries.files[1], diags);
    if (status == BACKEND_OK)
        status = device_link_entries(module, places, &entries, output, diags);
    arena_free(&scratch);
    return status;
}

enum backend_status twin_compile(const struct module *module, const struct backend_places *places,
                                 struct device_output *output, struct diags *diags)
{
    struct text source = {NULL, 0, 0}, glue = {NULL, 0, 0};
    struct source_lines lines = {NULL, 0, 0, 0};
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
