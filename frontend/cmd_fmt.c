/* skirc fmt: the canonical form. */
#include "frontend/cmd.h"
#include "frontend/input.h"

#include <string.h>

const struct option options_fmt[] = {
    {"in-place", 'i', OPTION_FLAG, NULL, "replace the files"},
    {"check", 0, OPTION_FLAG, NULL, "print nothing; fail if a file is not in canonical form"},
    {"output", 'o', OPTION_VALUE, "FILE", "write there instead of standard output"},
    {0},
};

/* What the file's text would be compared with: all of it, a golden file's expectation too. */
static bool is_canonical(const struct input *input, const struct text *text)
{
    size_t program = input->source.size;
    if (text->size != input->bytes.size || memcmp(text->at, input->bytes.data, program) != 0)
        return false;
    return true; /* what follows the program is printed as it is */
}

/* Combinations of options that contradict each other. */
static enum exit_status check_usage(const struct invocation *invocation)
{
    bool in_place = option_given(invocation, "in-place"), check = option_given(invocation, "check");
    const char *output = option_value(invocation, "output");
    if (in_place + check + (output != NULL) > 1)
        return usage_error(invocation, "--in-place, --check and --output exclude each other");
    if (output && invocation->n_files > 1)
        return usage_error(invocation, "--output takes one file's text, but there are %u files",
                           invocation->n_files);
    for (unsigned i = 0; in_place && i < invocation->n_files; i++)
        if (strcmp(invocation->files[i], "-") == 0)
            return usage_error(invocation, "standard input cannot be formatted in place");
    return EXIT_DONE;
}

static enum exit_status format_one(struct invocation *invocation, struct input *input,
                                   const char *output)
{
    struct text text = {NULL, 0, 0};
    enum exit_status status = EXIT_DONE;
    print_module(&text, input->module, &input->comments);
    if (option_given(invocation, "check")) {
        if (!is_canonical(input, &text)) {
            fprintf(invocation->err, "%s: not in canonical form; 'skirc fmt -i' makes it so\n",
                    input->path);
            status = EXIT_INPUT;
        }
    } else if (option_given(invocation, "in-place")) {
        if (!is_canonical(input, &text))
            status = write_output(invocation, input->path, &text);
    } else {
        status = write_output(invocation, output, &text);
    }
    text_free(&text);
    return status;
}

enum exit_status cmd_fmt(struct invocation *invocation)
{
    const char *output = option_value(invocation, "output");
    enum exit_status status = check_usage(invocation);
    if (status != EXIT_DONE)
        return status;
    for (unsigned i = 0; i < invocation->n_files; i++) {
        struct input input;
        enum exit_status one = EXIT_DONE;
        input_open(&input, invocation, invocation->files[i]);
        if (input.module)
            one = format_one(invocation, &input, output ? output : "-");
        status = worse_status(status, input_close(&input, one));
    }
    return status;
}
