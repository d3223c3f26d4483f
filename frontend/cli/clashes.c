#include "frontend/cli/clashes.h"
#include "ir/base/file.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Options whose values are files; of `run`, some stand behind the name of a value. */
static const char *const written[] = {"output", "remarks", "json", "profile", "trace"};
static const struct {
    const char *command; /* NULL: any that has the option */
    const char *option;
} inputs[] = {
    {"run", "input"},     {"run", "expect"},   {"run", "compare"},
    {"import", "scopes"}, {"trace", "module"}, {NULL, "pass-plugin"},
};
enum { N_WRITTEN = sizeof written / sizeof written[0], N_READ = sizeof inputs / sizeof inputs[0] };

static bool is_command(const struct invocation *invocation, const char *name)
{
    return strcmp(invocation->command->name, name) == 0;
}

static const char *value_at(const struct invocation *invocation, const char *option, unsigned n)
{
    return option_exists(invocation, option) ? option_value_at(invocation, option, n) : NULL;
}

static const char *file_of(const struct invocation *invocation, const char *option,
                           const char *value)
{
    bool named = is_command(invocation, "run") &&
                 (strcmp(option, "output") == 0 || strcmp(option, "input") == 0 ||
                  strcmp(option, "expect") == 0);
    const char *behind = named ? strchr(value, '=') : NULL;
    return behind ? behind + 1 : value;
}

static bool is_stream(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* Whether standard output, to which several may be written, leads to a file of this path. */
static bool is_behind_stream(const char *path)
{
    struct stat out, st;
    return fstat(STDOUT_FILENO, &out) == 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
           out.st_dev == st.st_dev && out.st_ino == st.st_ino;
}

/* Both may be there, or are yet to be made; devices can be written by several. */
static bool is_one_file(const char *a, const char *b)
{
    struct stat st;
    if (is_stream(a) || is_stream(b))
        return is_stream(a) != is_stream(b) && is_behind_stream(is_stream(a) ? b : a);
    if (stat(a, &st) == 0)
        return S_ISREG(st.st_mode) && path_same(a, b);
    return strcmp(a, b) == 0 || path_same_place(a, b);
}

/* ------------------------------------------------------------------------ inputs ---- */

static bool ends_in(const char *name, const char *ending)
{
    size_t size = strlen(name), last = strlen(ending);
    return size > last && strcmp(name + size - last, ending) == 0;
}

/* Whether the path leads to a description in the folder of --kernel-dir: all of them are read. */
static bool is_description(const struct invocation *invocation, const char *path)
{
    static const char ending[] = ".json";
    const char *folder = value_at(invocation, "kernel-dir", 0);
    struct known_file file = known_file_of(path);
    struct arena arena = {NULL, 0};
    struct file_names names = {NULL, 0, 0};
    bool is = false;
    if (!folder || !file.is_there)
        return false;
    if (folder_names(folder, &arena, &names))
        for (uint32_t i = 0; i < names.count && !is; i++)
            is = ends_in(names.at[i], ending) &&
                 known_file_is(&file, arena_path(&arena, folder, names.at[i]));
    vec_free(&names);
    arena_free(&arena);
    return is;
}

static const char *file_at(const struct invocation *invocation, const char *path)
{
    for (unsigned i = 0; i < invocation->n_files; i++)
        if (path_same(path, invocation->files[i]))
            return invocation->files[i];
    return NULL;
}

const char *input_at(const struct invocation *invocation, const char *path)
{
    const char *file = file_at(invocation, path);
    return file || !is_description(invocation, path) ? file : path;
}

/* Results may replace arrays that were inputs, as what is updated does. */
static bool may_replace(const struct invocation *invocation, unsigned written_at, unsigned read_at)
{
    return written_at == 0 && read_at == 0 && is_command(invocation, "run");
}

/* That of the value of an option by which files are read, or NULL. */
static const char *replaced_value(const struct invocation *invocation, const char *path, unsigned i)
{
    const char *other;
    if (inputs[i].command && !is_command(invocation, inputs[i].command))
        return NULL;
    for (unsigned n = 0; (other = value_at(invocation, inputs[i].option, n)); n++)
        if (path_same(path, file_of(invocation, inputs[i].option, other)))
            return file_of(invocation, inputs[i].option, other);
    return NULL;
}

/* The first file that is read, and is the one of an option's value; or NULL. */
static const char *replaced_input(const struct invocation *invocation, const char *value,
                                  unsigned written_at)
{
    const char *path = file_of(invocation, written[written_at], value), *found = NULL;
    bool in_place =
        written_at == 0 && (is_command(invocation, "fmt") || is_command(invocation, "opt"));
    if (is_stream(value))
        return NULL;
    if (!in_place)
        found = file_at(invocation, value);
    if (!found && !in_place)
        found = file_at(invocation, path);
    for (unsigned i = 0; !found && i < N_READ; i++)
        if (!may_replace(invocation, written_at, i))
            found = replaced_value(invocation, path, i);
    return found || !is_description(invocation, path) ? found : path;
}

static bool keeps_inputs(const struct invocation *invocation)
{
    const char *input, *value;
    for (unsigned i = 0; i < N_WRITTEN; i++)
        for (unsigned n = 0; (value = value_at(invocation, written[i], n)); n++)
            if ((input = replaced_input(invocation, value, i))) {
                usage_error(invocation, "'--%s=%s' would replace the input '%s'", written[i], value,
                            input);
                return false;
            }
    return true;
}

/* ------------------------------------------------------------------------ outputs ---- */

/* Of all values that are written, one after another. */
struct output {
    unsigned option, n;
    const char *value;
};

static bool next_output(const struct invocation *invocation, struct output *output)
{
    for (; output->option < N_WRITTEN; output->option++, output->n = 0) {
        output->value = value_at(invocation, written[output->option], output->n);
        if (output->value) {
            output->n++;
            return true;
        }
    }
    return false;
}

static bool are_different(const struct invocation *invocation)
{
    for (struct output one = {0, 0, NULL}; next_output(invocation, &one);)
        for (struct output other = one; next_output(invocation, &other);) {
            const char *path = file_of(invocation, written[other.option], other.value);
            if (!is_one_file(file_of(invocation, written[one.option], one.value), path))
                continue;
            if (is_stream(path))
                path = file_of(invocation, written[one.option], one.value);
            usage_error(invocation, "'--%s=%s' and '--%s=%s' would both be written to '%s'",
                        written[one.option], one.value, written[other.option], other.value, path);
            return false;
        }
    return true;
}

static bool have_names(const struct invocation *invocation)
{
    for (struct output one = {0, 0, NULL}; next_output(invocation, &one);)
        if (!*one.value) {
            usage_error(invocation, "'--%s=' needs the name of a file", written[one.option]);
            return false;
        }
    return true;
}

bool outputs_are_apart(const struct invocation *invocation)
{
    return have_names(invocation) && keeps_inputs(invocation) && are_different(invocation);
}
