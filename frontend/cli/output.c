#include "frontend/cli/output.h"
#include "ir/base/file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum exit_status worse_status(enum exit_status a, enum exit_status b)
{
    return a > b ? a : b;
}

static enum exit_status report(const struct invocation *invocation, const char *error)
{
    fprintf(invocation->err, "skirc: %s\n", error);
    return EXIT_INPUT;
}

enum exit_status write_output(const struct invocation *invocation, const char *path,
                              const struct text *text)
{
    char error[512];
    if (strcmp(path, "-") == 0)
        return fwrite(text->at, 1, text->size, invocation->out) == text->size &&
                       fflush(invocation->out) == 0
                   ? EXIT_DONE
                   : report(invocation, "cannot write the output");
    return file_write(path, text->at, text->size, error, sizeof error) ? EXIT_DONE
                                                                       : report(invocation, error);
}

struct stream_sink {
    struct print_sink sink;
    FILE *out;
};

static bool stream_take(struct print_sink *sink, const char *bytes, size_t size)
{
    return fwrite(bytes, 1, size, ((struct stream_sink *)sink)->out) == size;
}

struct file_sink {
    struct print_sink sink;
    struct file_out out;
    char error[512];
};

static bool file_take(struct print_sink *sink, const char *bytes, size_t size)
{
    struct file_sink *file = (struct file_sink *)sink;
    return file_out_write(&file->out, bytes, size, file->error, sizeof file->error);
}

enum exit_status write_produced(const struct invocation *invocation, const char *path,
                                text_producer *produce, const void *what)
{
    if (strcmp(path, "-") == 0) {
        struct stream_sink stream = {{stream_take}, invocation->out};
        return produce(&stream.sink, what) && fflush(invocation->out) == 0
                   ? EXIT_DONE
                   : report(invocation, "cannot write the output");
    }
    struct file_sink file = {.sink = {file_take}};
    if (!file_out_open(&file.out, path, file.error, sizeof file.error))
        return report(invocation, file.error);
    if (!produce(&file.sink, what))
        file_out_abandon(&file.out);
    else if (file_out_commit(&file.out, file.error, sizeof file.error))
        return EXIT_DONE;
    return report(invocation, file.error);
}

struct commented_module {
    const struct module *module;
    const struct spans *comments;
};

static bool produce_module(struct print_sink *sink, const void *what)
{
    const struct commented_module *commented = what;
    return print_module_to(sink, commented->module, commented->comments);
}

enum exit_status write_module(const struct invocation *invocation, const char *path,
                              const struct module *module, const struct spans *comments)
{
    struct commented_module commented = {module, comments};
    return write_produced(invocation, path, produce_module, &commented);
}

/* ---------------------------------------------------------------------------- paths ---- */

/* The n-th file that options name to be written, of all of them; NULL after the last. A result of
 * `run` has the name of a value before its path. */
static const char *written_at(const struct invocation *invocation, unsigned n, const char **option)
{
    static const char *const options[] = {"output", "remarks", "json", "profile", "trace", NULL};
    const char *value, *path;
    for (unsigned i = 0; options[i]; i++)
        for (unsigned k = 0; option_exists(invocation, options[i]) &&
                             (value = option_value_at(invocation, options[i], k));
             k++)
            if (n-- == 0) {
                bool named = i == 0 && strcmp(invocation->command->name, "run") == 0;
                *option = options[i];
                path = named ? strchr(value, '=') : NULL;
                return path && path[1] ? path + 1 : value;
            }
    return NULL;
}

static bool is_one_file(const char *a, const char *b)
{
    struct stat st;
    if (stat(a, &st) == 0)
        return S_ISREG(st.st_mode) && path_same(a, b);
    return strcmp(a, b) == 0 && strcmp(a, "-") != 0;
}

bool outputs_are_apart(const struct invocation *invocation)
{
    const char *one, *other, *option, *other_option;
    for (unsigned i = 0; (one = written_at(invocation, i, &option)); i++) {
        if (!*one) {
            usage_error(invocation, "'--%s=' needs the name of a file", option);
            return false;
        }
        for (unsigned k = 0; k < i && (other = written_at(invocation, k, &other_option)); k++)
            if (is_one_file(one, other)) {
                usage_error(invocation, "'--%s' and '--%s' would both be written to '%s'",
                            other_option, option, one);
                return false;
            }
    }
    return true;
}

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

/* The input that an output to this path would replace, or NULL. */
static const char *find_input(const struct invocation *invocation, const char *path)
{
    for (unsigned i = 0; i < invocation->n_files; i++)
        if (path_same(path, invocation->files[i]))
            return invocation->files[i];
    return NULL;
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
