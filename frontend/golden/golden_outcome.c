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
    struct cli steady = *cli;
    steady.steady = true;
    *outcome = (struct golden_outcome){.status = EXIT_DEFECT};
    struct stream out, err;
    stream_open(&out);
    stream_open(&err);
    int argc;
    const char **argv = make_argv(golden, index, &outcome->arena, &argc);
    outcome->status = cli_main(&steady, argc, argv, out.file, err.file);
    outcome->out = stream_close(&out, &outcome->out_size);
    outcome->err = stream_close(&err, &outcome->err_size);
    /* `fmt` prints what follows its input as it is: these very expectations. */
    const char *expect = source_find_expect(outcome->out, outcome->out_size);
    if (expect)
        outcome->out_size = (size_t)(expect - outcome->out);
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
