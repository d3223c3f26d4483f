#include "frontend/cli/clashes.h"
#include "ir/base/file.h"

#include <string.h>
#include <sys/stat.h>

/* Options whose values are files; of `run`, some stand behind the name of a value. */
static const char *const written[] = {"output", "remarks", "json", "profile", "trace"};
static const char *const read[] = {"input", "expect", "compare"};
enum { N_WRITTEN = sizeof written / sizeof written[0], N_READ = sizeof read / sizeof read[0] };

static bool is_command(const struct invocation *invocation, const char *name)
{
    return strcmp(invocation->command->name, name) == 0;
}

static const char *value_at(const struct invocation *invocation, const char *option, unsigned n)
{
    return option_exists(invocation, option) ? option_value_at(invocation, option, n) : NULL;
}

static const char *file_of(const struct invocation *invocation, const char *value)
{
    const char *behind = is_command(invocation, "run") ? strchr(value, '=') : NULL;
    return behind ? behind + 1 : value;
}

/* Both may be there, or are yet to be made; devices can be written by several. */
static bool is_one_file(const char *a, const char *b)
{
    struct stat st;
    if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0)
        return false;
    if (stat(a, &st) == 0)
        return S_ISREG(st.st_mode) && path_same(a, b);
    return strcmp(a, b) == 0;
}

/* ------------------------------------------------------------------------ inputs ---- */

const char *input_at(const struct invocation *invocation, const char *path)
{
    for (unsigned i = 0; i < invocation->n_files; i++)
        if (path_same(path, invocation->files[i]))
            return invocation->files[i];
    return NULL;
}

/* The first file that is read, and is the one of an option's value; or NULL. Results may replace
 * arrays that were inputs, as what is updated does. */
static const char *replaced_input(const struct invocation *invocation, const char *value,
                                  bool is_result)
{
    const char *path = file_of(invocation, value), *other;
    if (strcmp(value, "-") == 0)
        return NULL;
    const char *found = input_at(invocation, value);
    if (!found)
        found = input_at(invocation, path);
    for (unsigned i = is_result; !found && is_command(invocation, "run") && i < N_READ; i++)
        for (unsigned n = 0; !found && (other = value_at(invocation, read[i], n)); n++)
            if (path_same(path, file_of(invocation, other)))
                found = file_of(invocation, other);
    return found;
}

static bool keeps_inputs(const struct invocation *invocation)
{
    const char *input, *value;
    unsigned first = is_command(invocation, "fmt") || is_command(invocation, "opt") ? 1 : 0;
    for (unsigned i = first; i < N_WRITTEN; i++)
        for (unsigned n = 0; (value = value_at(invocation, written[i], n)); n++)
            if ((input = replaced_input(invocation, value, i == 0))) {
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
            const char *path = file_of(invocation, other.value);
            if (!is_one_file(file_of(invocation, one.value), path))
                continue;
            usage_error(invocation, "'--%s=%s' and '--%s=%s' would both be written to '%s'",
                        written[one.option], one.value, written[other.option], other.value, path);
            return false;
        }
    return true;
}

bool outputs_are_apart(const struct invocation *invocation)
{
    return keeps_inputs(invocation) && are_different(invocation);
}
