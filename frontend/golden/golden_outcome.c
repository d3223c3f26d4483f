#include "frontend/golden/golden.h"
#include "frontend/golden/golden_reported.h"
#include "frontend/golden/golden_scan.h"
#include "ir/base/stream.h"

/* ----------------------------------------------------------------------- the command ---- */

/* skirc COMMAND --color=never --max-errors=0 [--remarks] ARGUMENTS FILE. The options of the file
 * come later, so that they count. For `opt`, a first word that is no option is the list of
 * passes. `run` measures nothing unless it is told to: what it says of times depends on them. */
static const char **make_argv(const struct golden *golden, uint32_t index, struct arena *arena,
                              int *argc)
{
    const struct golden_command *command = &golden->commands.at[index];
    const char **argv = arena_alloc(arena, (command->words.count + 8) * sizeof *argv);
    int n = 0;
    argv[n++] = "skirc";
    argv[n++] = command->words.at[0];
    argv[n++] = "--color=never";
    argv[n++] = "--max-errors=0";
    if (golden_expects(golden, index, GOLDEN_REMARK))
        argv[n++] = "--remarks";
    if (strcmp(command->words.at[0], "run") == 0)
        argv[n++] = "--repeat=0";
    bool opt = strcmp(command->words.at[0], "opt") == 0;
    for (uint32_t i = 1; i < command->words.count; i++) {
        const char *word = command->words.at[i];
        argv[n++] =
            opt && i == 1 && word[0] != '-' ? arena_printf(arena, "--passes=%s", word) : word;
    }
    argv[n++] = golden->path;
    argv[n] = NULL;
    *argc = n;
    return argv;
}

/* The program as it is read and printed, with nothing done to it; nothing where it cannot be. */
static void print_canonical(const struct golden *golden, const struct cli *cli,
                            struct golden_outcome *outcome)
{
    const char *argv[] = {"skirc", "opt", golden->path, NULL};
    struct stream out, err;
    size_t size;
    stream_open(&out);
    stream_open(&err);
    int status = cli_main(cli, 3, argv, out.file, err.file);
    char *text = stream_close(&out, &size);
    mem_free(stream_close(&err, NULL));
    if (status == EXIT_DONE)
        text_bytes(&outcome->canonical, text, size);
    mem_free(text);
}

/* ------------------------------------------------------------------------------ times ---- */

/* What stands in the place of what a clock has said. */
static const char some_time[] = "TIME";

/* A number with digits behind the point or not, and a unit of time: its size, or 0. */
static size_t time_size(const char *text, const char *end)
{
    static const char *const units[] = {" ns", " us", " \xc2\xb5s", " ms", " s"};
    const char *p = text;
    uint32_t number;
    if (!scan_take_number(&p, end, &number))
        return 0;
    if (scan_take(&p, end, ".") && !scan_take_number(&p, end, &number))
        return 0;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        const char *rest = p;
        if (scan_take(&rest, end, units[i]) &&
            (rest == end || !strchr("abcdefghijklmnopqrstuvwxyz0123456789_", *rest) || !*rest))
            return (size_t)(rest - text);
    }
    return 0;
}

/* Nothing that a clock has said is the same twice. */
static void mask_times(struct text *out, const char *text, size_t size)
{
    const char *end = text + size;
    bool in_word = false; /* a digit here begins no number */
    while (text < end) {
        size_t n = in_word ? 0 : time_size(text, end);
        if (n) {
            text_string(out, some_time);
            text += n;
        }
        if (text == end)
            break;
        in_word = (*text >= '0' && *text <= '9') || (*text >= 'a' && *text <= 'z') ||
                  (*text >= 'A' && *text <= 'Z') || strchr("_.%@", *text) != NULL;
        text_char(out, *text++);
    }
}

static void mask_bytes(char **bytes, size_t *size)
{
    struct text masked = {NULL, 0, 0};
    mask_times(&masked, *bytes, *size);
    mem_free(*bytes);
    *size = masked.size;
    text_char(&masked, '\0');
    *bytes = masked.at;
}

/* --------------------------------------------------------------------------- outcomes ---- */

static bool wants_canonical(const struct golden_command *command)
{
    for (uint32_t i = 0; i < command->sections.count; i++)
        if (command->sections.at[i].kind == GOLDEN_CHANGES)
            return true;
    return false;
}

void golden_run(const struct golden *golden, uint32_t index, const struct cli *cli,
                struct golden_outcome *outcome)
{
    const struct golden_command *command = &golden->commands.at[index];
    *outcome = (struct golden_outcome){.status = EXIT_DEFECT};
    struct stream out, err;
    stream_open(&out);
    stream_open(&err);
    int argc;
    const char **argv = make_argv(golden, index, &outcome->arena, &argc);
    outcome->status = cli_main(cli, argc, argv, out.file, err.file);
    outcome->out = stream_close(&out, &outcome->out_size);
    outcome->err = stream_close(&err, &outcome->err_size);
    /* `fmt` prints what follows its input as it is: these very expectations. */
    const char *expect = source_find_expect(outcome->out, outcome->out_size);
    if (expect)
        outcome->out_size = (size_t)(expect - outcome->out);
    if (strcmp(command->words.at[0], "run") == 0) {
        mask_bytes(&outcome->out, &outcome->out_size);
        mask_bytes(&outcome->err, &outcome->err_size);
    }
    golden_read_reported(golden, outcome);
    if (wants_canonical(command))
        print_canonical(golden, cli, outcome);
}

void golden_outcome_free(struct golden_outcome *outcome)
{
    mem_free(outcome->out);
    mem_free(outcome->err);
    mem_free(outcome->partners);
    text_free(&outcome->report);
    text_free(&outcome->canonical);
    vec_free(&outcome->reported);
    arena_free(&outcome->arena);
}
