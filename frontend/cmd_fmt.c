/* skirc fmt, skirc check: the commands that only read. */
#include "frontend/cmd.h"
#include "frontend/input.h"
#include "frontend/sk_argument.h"

#include <string.h>

const struct option options_fmt[] = {
    {"in-place", 'i', OPTION_FLAG, NULL, "replace the files"},
    {"check", 0, OPTION_FLAG, NULL, "print nothing; fail if a file is not in canonical form"},
    {"output", 'o', OPTION_VALUE, "FILE", "write there instead of standard output"},
    {0},
};

const struct option options_check[] = {
    {"sk-options", 0, OPTION_VALUE, "TEXT", "options of every scope, over what the file says"},
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
    if (invocation->n_files > 1 && output) {
        fprintf(invocation->err, "skirc: --output takes one file's text, but there are %u files\n",
                invocation->n_files);
        return EXIT_USAGE;
    }
    enum exit_status status = EXIT_DONE;
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

enum exit_status cmd_check(struct invocation *invocation)
{
    enum exit_status status = EXIT_DONE;
    if (!sk_argument_check(invocation))
        return EXIT_USAGE;
    for (unsigned i = 0; i < invocation->n_files; i++) {
        struct input input;
        input_open_verified(&input, invocation, invocation->files[i]);
        status = worse_status(status, input_close(&input, EXIT_DONE));
    }
    return status;
}
