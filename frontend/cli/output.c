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

/* A file that an option names to be written. */
struct written {
    const char *option, *path;
    struct stat st;
    bool exists;
};

/* A path that leads to nothing is compared as text. */
static bool is_one_file(const struct written *a, const struct written *b)
{
    if (a->exists || b->exists)
        return a->exists && b->exists && S_ISREG(a->st.st_mode) && a->st.st_dev == b->st.st_dev &&
               a->st.st_ino == b->st.st_ino;
    return strcmp(a->path, b->path) == 0 && strcmp(a->path, "-") != 0;
}

bool outputs_are_apart(const struct invocation *invocation)
{
    static const char *const options[] = {"output", "remarks", "json", "profile", "trace", NULL};
    bool names_values = strcmp(invocation->command->name, "run") == 0, apart = true;
    VEC(struct written) all = {NULL, 0, 0};
    for (unsigned i = 0; options[i]; i++) {
        const char *value;
        if (!option_exists(invocation, options[i]))
            continue;
        for (unsigned n = 0; apart && (value = option_value_at(invocation, options[i], n)); n++) {
            /* `run --output` names a value before the path. */
            const char *path = names_values && i == 0 ? strchr(value, '=') : NULL;
            struct written written = {.option = options[i],
                                      .path = path && path[1] ? path + 1 : value};
            written.exists = stat(written.path, &written.st) == 0;
            if (!*written.path) {
                usage_error(invocation, "'--%s=' needs the name of a file", written.option);
                apart = false;
            }
            for (uint32_t k = 0; apart && k < all.count; k++)
                if (is_one_file(&written, &all.at[k])) {
                    usage_error(invocation, "'--%s' and '--%s' would both be written to '%s'",
                                all.at[k].option, written.option, written.path);
                    apart = false;
                }
            vec_push(&all, written);
        }
    }
    vec_free(&all);
    return apart;
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
