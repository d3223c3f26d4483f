#include "backend/device/tools.h"
#include "ir/base/file.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

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

/* Whether a file begins as objects do. */
static bool is_object(const char *path)
{
    char magic[SELFMAG], error[512];
    return file_read_part(path, 0, magic, sizeof magic, error, sizeof error) &&
           memcmp(magic, ELFMAG, SELFMAG) == 0;
}

/* Not all programs that end well are compilers. */
static enum backend_status check_made(const char *path, const char *command, const char *variable,
                                      const char *language, struct diags *diags)
{
    if (is_object(path))
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

enum backend_status device_make_shared(const char *object, const char *shown, const char *output,
                                       struct diags *diags)
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
