#include "backend/device/tools.h"
#include "ir/base/file.h"

#include <errno.h>
#include <string.h>

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

enum backend_status device_run_cc(const char *const *args, struct diags *diags)
{
    char error[2600];
    return tool_run_cc(args, error, sizeof error) ? BACKEND_OK : tool_fails(error, diags);
}

enum backend_status device_run_cxx(const char *const *args, struct diags *diags)
{
    char error[2600];
    return tool_run_cxx(args, error, sizeof error) ? BACKEND_OK : tool_fails(error, diags);
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
    enum backend_status status = device_write(source, path, diags);
    if (status == BACKEND_OK)
        status = device_run_cc(args, diags);
    arena_free(&scratch);
    return status;
}

enum backend_status device_make_shared(const char *object, const char *output, struct diags *diags)
{
    const char *args[] = {"-shared", "-o", output, object, "-lm", NULL};
    return device_run_cc(args, diags);
}
