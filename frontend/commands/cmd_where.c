/* skirc where: what an address or a line of a kernel for NPUs is of. */
#include "frontend/cli/input.h"
#include "frontend/cli/outputs.h"
#include "frontend/commands/cmd.h"
#include "frontend/where/kernel_places.h"

#include <errno.h>
#include <stdlib.h>

const struct option options_where[] = {
    {"pc", 0, OPTION_VALUE, "OFFSET", "an address in the linked object's code, from its begin"},
    {"line", 0, OPTION_VALUE, "N", "a line of the source, in AscendC"},
    {0},
};

/* What is asked for. */
struct question {
    bool line;
    uint64_t number;
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
    const char *pc = option_value(invocation, "pc");
    question->line = option_given(invocation, "line");
    if ((pc != NULL) == question->line) {
        usage_error(invocation, "either --pc or --line says what is asked for");
        return false;
    }
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

static enum exit_status answer(struct input *input, const struct kernel_places *places,
                               const struct question *question)
{
    struct text text = {NULL, 0, 0};
    bool found = question->line ? kernel_places_line(places, (uint32_t)question->number, &text)
                                : kernel_places_address(places, question->number, &text);
    if (found)
        fwrite(text.at, 1, text.size, input->invocation->out);
    else
        report_nothing(input, places, question);
    text_free(&text);
    return found ? EXIT_DONE : EXIT_INPUT;
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
