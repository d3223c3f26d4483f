/* skirc where: what an address or a line of a kernel for NPUs is of. */
#include "frontend/cli/input.h"
#include "frontend/cli/outputs.h"
#include "frontend/commands/cmd.h"
#include "frontend/where/kernel_places.h"
#include "ir/base/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct option options_where[] = {
    {"pc", 0, OPTION_VALUE, "OFFSET", "an address in the linked object's code, from its begin"},
    {"start", 0, OPTION_VALUE, "ADDRESS",
     "--pc is an address on the device, where this core type began with the entry"},
    {"core", 0, OPTION_VALUE, "TYPE", "of --start: aic or aiv"},
    {"line", 0, OPTION_VALUE, "N", "a line of the source, in AscendC"},
    {"trace", 0, OPTION_VALUE, "FILE",
     "what a launch with debug-op-exec-trace=1 has left in its buffer"},
    {"entry", 0, OPTION_VALUE, "NAME", "of metadata of several kernels: the one that is meant"},
    {0},
};

/* What is asked for. */
struct question {
    bool line;
    uint64_t number;
    const char *core; /* of `start`; NULL: the number is an offset */
    uint64_t start;
    const char *trace, *entry;
};

static bool read_address(struct invocation *invocation, const char *text, uint64_t *address)
{
    char *end;
    errno = 0;
    *address = strtoull(text, &end, 0);
    if (*text >= '0' && *text <= '9' && *end == '\0' && errno == 0)
        return true;
    usage_error(invocation, "'%s' is no address: a number, or one behind 0x", text);
    return false;
}

static bool read_question(struct invocation *invocation, struct question *question)
{
    const char *pc = option_value(invocation, "pc"), *start = option_value(invocation, "start");
    *question = (struct question){.line = option_given(invocation, "line"),
                                  .core = option_value(invocation, "core"),
                                  .trace = option_value(invocation, "trace"),
                                  .entry = option_value(invocation, "entry")};
    if ((pc != NULL) + question->line + (question->trace != NULL) != 1) {
        usage_error(invocation, "either --pc or --line or --trace says what is asked for");
        return false;
    }
    if ((start != NULL) != (question->core != NULL) || (start && !pc)) {
        usage_error(invocation, "--start and --core belong together, and to --pc");
        return false;
    }
    if (start && strcmp(question->core, "aic") != 0 && strcmp(question->core, "aiv") != 0) {
        usage_error(invocation, "--core is aic or aiv, not '%s'", question->core);
        return false;
    }
    if (start && !read_address(invocation, start, &question->start))
        return false;
    if (question->trace)
        return true;
    return pc ? read_address(invocation, pc, &question->number)
              : option_number(invocation, "line", 1, UINT32_MAX - 1, &question->number);
}

static void report_nothing(struct input *input, const struct kernel_places *places,
                           const struct question *question)
{
    unsigned long long number = question->number;
    if (question->line)
        diag_at(&input->diags, DIAG_no_place, no_span,
                "line %llu of the source is no instruction's", number);
    else if (kernel_places_have_addresses(places))
        diag_at(&input->diags, DIAG_no_place, no_span,
                "at 0x%llx there is no code that the metadata tell of", number);
    else if (diag_at(&input->diags, DIAG_no_place, no_span,
                     "the metadata hold no addresses: they were made without an object"))
        diag_help(&input->diags, "make the object with 'skirc compile --target=ascend -o OUT.o', "
                                 "which writes OUT.json, or ask for a --line of the source");
}

/* Traces and addresses of the device are those of one launch. */
static bool choose(struct input *input, struct kernel_places *places,
                   const struct question *question)
{
    if (!question->entry && !question->trace && !question->core)
        return true;
    if (kernel_places_choose(places, question->entry))
        return true;
    if (question->entry)
        diag_at(&input->diags, DIAG_no_place, no_span, "the metadata have no kernel '%s'",
                question->entry);
    else if (diag_at(&input->diags, DIAG_no_place, no_span, "the metadata are of several kernels"))
        diag_help(&input->diags, "name the one that was launched by --entry=NAME");
    return false;
}

static enum exit_status answer_trace(struct input *input, const struct kernel_places *places,
                                     const char *path, struct text *text)
{
    struct file_bytes bytes;
    char error[512];
    if (!file_read(path, &bytes, error, sizeof error)) {
        diag_at(&input->diags, DIAG_file, no_span, "%s", error);
        return EXIT_INPUT;
    }
    bool found = kernel_places_trace(places, bytes.data, bytes.size, text);
    if (!found)
        diag_at(&input->diags, DIAG_no_place, no_span,
                "'%s' has no trace of this kernel, or the kernel was compiled without "
                "debug-op-exec-trace=1",
                path);
    file_bytes_free(&bytes);
    return found ? EXIT_DONE : EXIT_INPUT;
}

static enum exit_status answer_place(struct input *input, const struct kernel_places *places,
                                     const struct question *question, struct text *text)
{
    bool found = question->line ? kernel_places_line(places, (uint32_t)question->number, text)
                 : question->core
                     ? kernel_places_address_from(places, question->core, question->number,
                                                  question->start, text)
                     : kernel_places_address(places, question->number, text);
    if (!found)
        report_nothing(input, places, question);
    return found ? EXIT_DONE : EXIT_INPUT;
}

static enum exit_status answer(struct input *input, struct kernel_places *places,
                               const struct question *question)
{
    struct text text = {NULL, 0, 0};
    enum exit_status status = EXIT_INPUT;
    if (choose(input, places, question))
        status = question->trace ? answer_trace(input, places, question->trace, &text)
                                 : answer_place(input, places, question, &text);
    if (status == EXIT_DONE)
        fwrite(text.at, 1, text.size, input->invocation->out);
    text_free(&text);
    return status;
}

enum exit_status cmd_where(struct invocation *invocation)
{
    struct question question;
    struct kernel_places places;
    struct input input;
    enum exit_status status = EXIT_INPUT;
    if (!read_question(invocation, &question))
        return EXIT_USAGE;
    if (input_open_foreign(&input, invocation, invocation->files[0])) {
        if (kernel_places_read(&places, &input.source, &input.diags))
            status = answer(&input, &places, &question);
        kernel_places_free(&places);
    }
    return input_close(&input, status);
}
