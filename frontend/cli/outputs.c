#include "frontend/cli/outputs.h"
#include "frontend/cli/clashes.h"
#include "frontend/cli/output.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static bool ends_in_slash(const char *path)
{
    size_t size = strlen(path);
    return size > 0 && path[size - 1] == '/';
}

static bool is_folder(const char *path)
{
    struct stat st;
    return ends_in_slash(path) || (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

/* The path in the folder: the input's name, with the suffix in the place of ".skir". */
static const char *path_in(struct outputs *outputs, const char *folder, const char *input,
                           const char *suffix)
{
    const char *slash = strrchr(input, '/'), *name = slash ? slash + 1 : input;
    size_t size = strlen(name);
    if (size > 5 && strcmp(name + size - 5, ".skir") == 0)
        size -= 5;
    return arena_printf(&outputs->arena, "%s%s%.*s%s", folder, ends_in_slash(folder) ? "" : "/",
                        (int)size, name, suffix);
}

/* The first input that an output to this path would replace, or NULL. */
static const char *find_input(const struct invocation *invocation, const char *path)
{
    struct stat output;
    bool replaces = stat(path, &output) == 0 && S_ISREG(output.st_mode);
    return replaces ? input_at(invocation, path) : NULL;
}

static enum exit_status plan_in_folder(struct outputs *outputs, const struct invocation *invocation,
                                       const char *folder, const char *suffix)
{
    for (unsigned i = 0; i < invocation->n_files; i++) {
        const char *input = invocation->files[i];
        if (strcmp(input, "-") == 0)
            return usage_error(invocation, "standard input has no name to be written by to '%s'",
                               folder);
        const char *path = outputs->paths[i] = path_in(outputs, folder, input, suffix);
        const char *overwritten = find_input(invocation, path);
        uint32_t first = intern_copy(&outputs->names, path, strlen(path));
        if (first != i)
            return usage_error(invocation, "'%s' and '%s' would both be written to '%s'",
                               invocation->files[first], input, path);
        if (overwritten)
            return usage_error(invocation, "the output '%s' would replace the input '%s'", path,
                               overwritten);
    }
    return EXIT_DONE;
}

static enum exit_status make_folder(const struct invocation *invocation, const char *folder)
{
    struct stat st;
    if (mkdir(folder, 0777) == 0)
        return EXIT_DONE;
    if (errno == EEXIST && stat(folder, &st) == 0)
        return EXIT_DONE; /* with the slash at its end, only a folder */
    fprintf(invocation->err, "skirc: cannot make the folder '%s': %s\n", folder, strerror(errno));
    return EXIT_INPUT;
}

enum exit_status outputs_plan(struct outputs *outputs, const struct invocation *invocation,
                              const char *suffix, enum outputs_without without)
{
    const char *output = option_value(invocation, "output");
    unsigned count = invocation->n_files;
    outputs->paths = arena_alloc(&outputs->arena, count * sizeof *outputs->paths);
    for (unsigned i = 0; i < count; i++)
        outputs->paths[i] = output ? output : "-";
    if (output && is_folder(output)) {
        enum exit_status status = plan_in_folder(outputs, invocation, output, suffix);
        return status == EXIT_DONE ? make_folder(invocation, output) : status;
    }
    if (count > 1 && output)
        return usage_error(invocation, "%u files need a folder: '%s' is none, '%s/' is made", count,
                           output, output);
    if (count > 1 && without == OUTPUTS_ONE)
        return usage_error(invocation, "%u files need a folder to be written to: -o FOLDER/",
                           count);
    return EXIT_DONE;
}

void outputs_free(struct outputs *outputs)
{
    intern_free(&outputs->names);
    arena_free(&outputs->arena);
}

enum exit_status outputs_each(struct outputs *outputs, struct invocation *invocation,
                              outputs_work *work, const void *user)
{
    enum exit_status status = EXIT_DONE;
    for (unsigned i = 0; i < invocation->n_files; i++)
        status =
            worse_status(status, work(invocation, invocation->files[i], outputs->paths[i], user));
    return status;
}
