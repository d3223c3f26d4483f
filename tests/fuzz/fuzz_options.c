/* Fuzz target of command lines: the lines of a text are arguments of skirc, whose commands do
 * nothing but ask for all their options. Each argument is also read as a list of passes, as
 * options of scopes, and as what an input may be filled with.
 *
 * With -fsanitize=fuzzer it is a libFuzzer target. With -DREPLAY it has a plain main that runs the
 * files named as arguments. */
#include "frontend/driver/skirc.h"
#include "frontend/tensor/npy.h"
#include "frontend/tensor/tensor.h"
#include "ir/core/sk_options.h"
#include "ir/support/stream.h"
#include "passes/manager/pipeline.h"
#include "tests/fuzz/print_diags.h"
#include "tests/fuzz/replay.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ARGUMENTS = 64, MOST_COMMANDS = 32 };

static void need(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

/* ----------------------------------------------------------------------------- command ---- */

static void ask(const struct invocation *invocation, const struct option *option)
{
    const struct option_kind *kind = &option->kind;
    unsigned n = 0;
    bool given = option_given(invocation, option->name);
    need(given || !option_value(invocation, option->name),
         "an option that is not given has a value");
    while (option_value_at(invocation, option->name, n))
        n++;
    if (kind->value == VALUE_NONE)
        need(n == 0, "a flag has a value");
    if (kind->value == VALUE_NUMBER) {
        uint64_t number = option_number(invocation, option->name, kind->low);
        need(number >= kind->low && number <= kind->high, "a number is out of its range");
    }
    if (kind->value == VALUE_WORD)
        need(kind->words[option_word(invocation, option->name)], "a word is none of those");
}

static enum exit_status ask_all(struct invocation *invocation)
{
    const struct option *tables[] = {invocation->command->options, invocation->cli->common_options};
    for (size_t i = 0; i < 2; i++)
        for (const struct option *option = tables[i]; option && option->name; option++)
            ask(invocation, option);
    need(invocation->n_files >= invocation->command->min_files &&
             invocation->n_files <= invocation->command->max_files,
         "there are more or less files than a command takes");
    return EXIT_DONE;
}

static void call(const char **argv, int argc)
{
    struct command commands[MOST_COMMANDS];
    struct cli cli = skirc;
    unsigned n = 0;
    for (; skirc.commands[n].name && n + 1 < MOST_COMMANDS; n++) {
        commands[n] = skirc.commands[n];
        commands[n].run = ask_all;
    }
    commands[n] = (struct command){.name = NULL};
    cli.commands = commands;
    struct stream out, err;
    size_t size;
    stream_open(&out);
    stream_open(&err);
    enum exit_status status = cli_main(&cli, argc, argv, out.file, err.file);
    mem_free(stream_close(&out, NULL));
    mem_free(stream_close(&err, &size));
    need(status <= EXIT_USAGE, "the status is none of a command that does nothing");
    need(status == EXIT_DONE || size > 0, "wrong usage, and nothing says why");
}

/* ------------------------------------------------------------------------------ values ---- */

static void read_passes(const char *text)
{
    struct pipeline pipeline;
    char error[512] = "";
    if (pipeline_parse(&pipeline, text, error, sizeof error))
        pipeline_free(&pipeline);
    else
        need(*error, "a list of passes is refused, and nothing says why");
}

static void read_sk_options(const char *text)
{
    struct sk_options options;
    struct diags diags;
    size_t size = strlen(text);
    diags_init(&diags, NULL, "options");
    bool ok = sk_options_parse(&options, text, size, no_span, &diags);
    need(ok || diags.counts[SEVERITY_ERROR], "options are refused, and nothing says why");
    struct sk_setting rest;
    for (enum sk_option option = 0; ok && option < SK_OPTION_COUNT; option++) {
        (void)rest;
        sk_options_find(text, size, option);
        sk_option_lists(&options, option, text, size);
    }
    sk_option_is_pattern(text, size);
    sk_option_fits(text, size, "MatMul", 6);
    print_diags(&diags);
    diags_free(&diags);
}

/* Files are not looked for. */
static void fill(const char *spec)
{
    static const int64_t dims[] = {2, 3};
    char error[512] = "", unread[512];
    if (tensor_spec_is_file(spec) || !npy_refuse_other(spec, unread, sizeof unread))
        return;
    for (enum dtype dtype = 0; dtype < DTYPE_COUNT; dtype++) {
        struct tensor tensor;
        if (!tensor_init(&tensor, dtype, dims, 2, error, sizeof error))
            continue;
        *error = '\0';
        if (!tensor_fill(&tensor, spec, 1, error, sizeof error))
            need(*error, "what an input is filled with is refused, and nothing says why");
        tensor_free(&tensor);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *argv[MOST_ARGUMENTS + 2] = {"skirc"};
    int argc = 1;
    char *copy = mem_realloc(NULL, size + 1, 1);
    if (size)
        memcpy(copy, data, size);
    copy[size] = '\0';
    for (char *line = copy, *end; line && argc <= MOST_ARGUMENTS; line = end) {
        end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        argv[argc++] = line;
        read_passes(line);
        read_sk_options(line);
        fill(line);
    }
    call(argv, argc);
    mem_free(copy);
    return 0;
}
