/* Fuzz target of golden files: any bytes are read as a test, whose commands say what the test
 * expects of them or, half of the time, a little less. That is judged, and the test rewritten.
 *
 * With -fsanitize=fuzzer it is a libFuzzer target. With -DREPLAY it has a plain main that runs the
 * files named as arguments. */
#include "frontend/driver/skirc.h"
#include "frontend/filetest/golden.h"
#include "tests/fuzz/mutate_lines.h"
#include "tests/fuzz/replay.h"

#include <stdlib.h>
#include <string.h>

/* The test that is judged, which its commands repeat. */
static const struct golden *told;
static unsigned kept; /* every so often something is left out; 0: never */

static bool leaves_out(void)
{
    static unsigned n;
    return kept && ++n % kept == 0;
}

static enum exit_status tell(struct invocation *invocation)
{
    enum exit_status status = EXIT_DONE;
    for (uint32_t i = 0; i < told->commands.count; i++)
        for (uint32_t j = 0; j < told->commands.at[i].sections.count; j++) {
            const struct golden_section *section = &told->commands.at[i].sections.at[j];
            FILE *stream = section->report ? invocation->err : invocation->out;
            if (!leaves_out())
                fwrite(section->text.text, 1, section->text.size, stream);
        }
    for (uint32_t i = 0; i < told->expected.count; i++) {
        const struct golden_diag *diag = &told->expected.at[i];
        if (leaves_out())
            continue;
        fprintf(invocation->err, "%s:%u:1: %s: %s [id]\n", told->path, diag->line,
                golden_severity_text(diag->severity), diag->text);
        if (diag->severity == GOLDEN_ERROR)
            status = EXIT_INPUT;
    }
    return status;
}

static const struct command *repeating_commands(void)
{
    enum { MOST = 32 };
    static struct command commands[MOST];
    for (unsigned n = 0; skirc.commands[n].name && n + 1 < MOST; n++) {
        commands[n] = skirc.commands[n];
        commands[n].run = tell;
    }
    return commands;
}

static void judge(struct golden *golden)
{
    struct cli cli = skirc;
    struct text report = {NULL, 0, 0}, blessed = {NULL, 0, 0};
    uint32_t count = golden->commands.count;
    struct golden_outcome *outcomes = mem_calloc(count + 1, sizeof *outcomes);
    cli.commands = repeating_commands();
    bool acceptable = true;
    for (uint32_t i = 0; i < count; i++) {
        golden_run(golden, i, &cli, &outcomes[i]);
        acceptable = golden_is_acceptable(&outcomes[i]) && acceptable;
    }
    bool passed = golden_compare(golden, outcomes, &report);
    if (!passed && report.size == 0) {
        fprintf(stderr, "a test has failed, and nothing says why\n");
        abort();
    }
    if (acceptable)
        golden_bless(golden, outcomes, &blessed);
    for (uint32_t i = 0; i < count; i++)
        golden_outcome_free(&outcomes[i]);
    mem_free(outcomes);
    text_free(&report);
    text_free(&blessed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct golden golden;
    char error[512] = "";
    char *copy = mem_realloc(NULL, size + 1, 1);
    if (size)
        memcpy(copy, data, size);
    copy[size] = '\0';
    struct part text = {copy, size};
    if (golden_is_test(text))
        golden_header(text);
    bool ok = golden_parse(&golden, "test.skir", text, error, sizeof error);
    if (!ok && !*error)
        abort();
    told = &golden;
    for (kept = 0; ok && kept < 4; kept += 3)
        judge(&golden);
    golden_free(&golden);
    mem_free(copy);
    return 0;
}
