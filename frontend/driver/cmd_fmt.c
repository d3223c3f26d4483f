/* skirc fmt: the canonical form. */
#include "frontend/driver/cmd.h"
#include "frontend/driver/module_io.h"

#include <string.h>

const struct option options_fmt[] = {
    {"in-place", 'i', OPTION_FLAG, NULL, "replace the files"},
    {"check", 0, OPTION_FLAG, NULL, "print nothing; fail if a file is not in canonical form"},
    {"output", 'o', OPTION_VALUE, "FILE",
     "write there instead of standard output. A folder for several files"},
    {0},
};

/* Compares the canonical text with that of the file. */
struct compare_sink {
    struct print_sink sink;
    const struct input *input;
    size_t at; /* compared so far */
};

/* What follows the program, a golden file's expectation, is printed as it is. */
static bool compare_take(struct print_sink *sink, const char *bytes, size_t size)
{
    struct compare_sink *compare = (struct compare_sink *)sink;
    const struct input *input = compare->input;
    size_t at = compare->at, program = input->source.size;
    size_t part = at >= program ? 0 : size < program - at ? size : program - at;
    compare->at += size;
    return compare->at <= input->bytes.size && memcmp(bytes, input->bytes.data + at, part) == 0;
}

static bool is_canonical(const struct input *input)
{
    struct compare_sink compare = {{compare_take}, input, 0};
    return print_module_to(&compare.sink, input->module, &input->comments) &&
           compare.at == input->bytes.size;
}

/* Combinations of options that contradict each other. */
static enum exit_status check_usage(const struct invocation *invocation)
{
    bool in_place = option_given(invocation, "in-place"), check = option_given(invocation, "check");
    const char *output = option_value(invocation, "output");
    if (in_place + check + (output != NULL) > 1)
        return usage_error(invocation, "--in-place, --check and --output exclude each other");
    for (unsigned i = 0; in_place && i < invocation->n_files; i++)
        if (strcmp(invocation->files[i], "-") == 0)
            return usage_error(invocation, "standard input cannot be formatted in place");
    return EXIT_DONE;
}

static enum exit_status format_module(struct invocation *invocation, struct input *input,
                                      const char *output)
{
    bool check = option_given(invocation, "check"), in_place = option_given(invocation, "in-place");
    if ((check || in_place) && is_canonical(input))
        return EXIT_DONE;
    if (check) {
        fprintf(invocation->err, "%s: not in canonical form; 'skirc fmt -i' makes it so\n",
                input->path);
        return EXIT_INPUT;
    }
    output = in_place ? input->path : output;
    if (path_same(input->path, output))
        file_release_input(output);
    move_paths(input->module, input->path, output);
    return write_module(invocation, output, input->module, &input->comments);
}

static enum exit_status format_one(struct invocation *invocation, const char *path,
                                   const char *output, const void *user)
{
    struct input input;
    enum exit_status status = EXIT_DONE;
    (void)user;
    input_open(&input, invocation, path);
    if (input.module)
        status = format_module(invocation, &input, output);
    return input_close(&input, status);
}

enum exit_status cmd_fmt(struct invocation *invocation)
{
    enum exit_status status = check_usage(invocation);
    return status == EXIT_DONE ? outputs_each(invocation, ".skir", OUTPUTS_JOINED, format_one, NULL)
                               : status;
}
