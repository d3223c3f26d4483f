#include "frontend/filetest/golden.h"
#include "ir/support/stream.h"

/* ----------------------------------------------------------------------- the command ---- */

/* Runs a command line, which NULL ends, and takes what it prints. */
static int run_command(const struct cli *cli, const char *const *argv, struct text *out,
                       struct text *err)
{
    struct stream streams[2];
    int argc = 0;
    while (argv[argc])
        argc++;
    stream_open(&streams[0]);
    stream_open(&streams[1]);
    int status = cli_main(cli, argc, argv, streams[0].file, streams[1].file);
    out->at = stream_close(&streams[0], &out->size);
    err->at = stream_close(&streams[1], &err->size);
    return status;
}

/* skirc COMMAND --color=never --max-errors=0 [--remarks] ARGUMENTS FILE. The options of the file
 * come later, so that they count. For `opt`, a first word that is no option is the list of
 * passes. `run` measures nothing unless it is told to: what it says of times depends on them. */
static const char *const *make_argv(const struct golden *golden, uint32_t index,
                                    struct arena *arena)
{
    const struct golden_command *command = &golden->commands.at[index];
    const char *name = command->words.at[0];
    const char **argv = arena_alloc(arena, (command->words.count + 8) * sizeof *argv);
    int n = 0;
    argv[n++] = "skirc";
    argv[n++] = name;
    argv[n++] = "--color=never";
    argv[n++] = "--max-errors=0";
    if (golden_expects(golden, index, GOLDEN_REMARK))
        argv[n++] = "--remarks";
    if (strcmp(name, "run") == 0)
        argv[n++] = "--repeat=0";
    for (uint32_t i = 1; i < command->words.count; i++) {
        const char *word = command->words.at[i];
        bool passes = i == 1 && word[0] != '-' && strcmp(name, "opt") == 0;
        argv[n++] = passes ? arena_printf(arena, "--passes=%s", word) : word;
    }
    argv[n++] = golden->path;
    argv[n] = NULL;
    return argv;
}

/* --------------------------------------------------------------- reported diagnostics ---- */

/* The error stream, line by line. */
struct reader {
    struct golden_outcome *outcome;
    const char *prefix; /* "FILE:" */
    struct part before; /* the line before this one; NULL at the first */
    size_t report_size; /* of the report before that line */
    struct part line;   /* this one */
    bool in_diag;       /* the line before belongs to a diagnostic */
};

/* "12:" */
static bool take_line(struct part *text, uint32_t *number)
{
    struct part rest = *text;
    if (!scan_take_number(&rest, number) || !scan_take(&rest, ":"))
        return false;
    *text = rest;
    return true;
}

/* "error: " */
static bool take_severity(struct part *text, enum golden_severity *severity)
{
    for (int i = 0; i < GOLDEN_SEVERITIES; i++) {
        struct part rest = *text;
        if (!scan_take(&rest, golden_severity_text((enum golden_severity)i)) ||
            !scan_take(&rest, ": "))
            continue;
        *severity = (enum golden_severity)i;
        *text = rest;
        return true;
    }
    return false;
}

/* A diagnostic with the text "NAME: TEXT", or "TEXT" where the name has no bytes. */
static bool add(const struct reader *reader, struct golden_diag diag, struct part name,
                struct part text)
{
    struct golden_outcome *outcome = reader->outcome;
    diag.text = arena_printf(&outcome->arena, "%.*s%s%.*s", (int)name.size, name.text,
                             name.size ? ": " : "", (int)text.size, text.text);
    vec_push(&outcome->reported, diag);
    return true;
}

/* `FILE:LINE:COLUMN: SEVERITY: TEXT` about a file that the test includes becomes a diagnostic about
 * the test as a file, with the text `NAME:LINE: TEXT`. */
static bool read_included(const struct reader *reader)
{
    struct golden_diag diag = {.line = 0};
    uint32_t number, column;
    struct part name = reader->line;
    const char *colon = memchr(name.text, ':', name.size);
    if (!colon)
        return false;
    struct part text = scan_skip(name, (size_t)(colon + 1 - name.text));
    for (const char *p = name.text; p < colon; p++)
        if (*p == '/')
            name.text = p + 1;
    if (!take_line(&text, &number))
        return false;
    name.size = (size_t)(text.text - 1 - name.text); /* with the line */
    return take_line(&text, &column) && scan_take(&text, " ") &&
           take_severity(&text, &diag.severity) && add(reader, diag, name, text);
}

/* `  at FILE:LINE:COLUMN` below a head `ORIGIN: SEVERITY: TEXT`: a diagnostic about the line, with
 * the text `ORIGIN: TEXT`. */
static bool read_placed(const struct reader *reader)
{
    struct golden_diag diag = {.line = 0};
    struct part line = reader->line, head = reader->before;
    if (!head.text || !scan_take(&line, "  at ") || !scan_take(&line, reader->prefix) ||
        !take_line(&line, &diag.line))
        return false;
    for (size_t size = 0; size + 2 < head.size; size++) {
        struct part text = scan_skip(head, size);
        if (scan_take(&text, ": ") && take_severity(&text, &diag.severity))
            return add(reader, diag, (struct part){head.text, size}, text);
    }
    return false;
}

/* `FILE:LINE:COLUMN: SEVERITY: TEXT`, or `FILE: TEXT` and `skirc: TEXT`, an error if no severity is
 * named. */
static bool read_head(const struct reader *reader)
{
    struct golden_diag diag = {.severity = GOLDEN_ERROR};
    struct part line = reader->line;
    uint32_t column;
    if (scan_take(&line, reader->prefix)) {
        struct part position = line;
        if (!take_line(&line, &diag.line) || !take_line(&line, &column)) {
            diag.line = 0;
            line = position;
        }
    } else if (!scan_take(&line, "skirc:")) {
        return false;
    }
    while (scan_take(&line, " "))
        ;
    take_severity(&line, &diag.severity);
    return add(reader, diag, (struct part){"", 0}, line);
}

static bool read_help(const struct reader *reader)
{
    const struct golden_diags *reported = &reader->outcome->reported;
    struct golden_diag diag = {.severity = GOLDEN_HELP};
    struct part line = reader->line;
    diag.line = reported->count ? reported->at[reported->count - 1].line : 0;
    return scan_take(&line, "  help: ") && add(reader, diag, (struct part){"", 0}, line);
}

/* A line of the source below a diagnostic, or its caret: `   12 | ` and `      | `. */
static bool is_excerpt(const struct reader *reader)
{
    struct part line = reader->line;
    uint32_t number;
    while (scan_take(&line, " "))
        ;
    scan_take_number(&line, &number);
    return reader->in_diag && scan_take(&line, line.text > reader->line.text ? " | " : "  | ");
}

static void read_reported(const struct golden *golden, struct golden_outcome *outcome)
{
    struct reader reader = {.outcome = outcome,
                            .prefix = arena_printf(&outcome->arena, "%s:", golden->path)};
    struct text *report = &outcome->report;
    struct part rest = {outcome->err.at, outcome->err.size};
    while (scan_take_line(&rest, &reader.line)) {
        size_t before = report->size;
        bool placed = read_placed(&reader);
        if (placed)
            report->size = reader.report_size;
        reader.in_diag = placed || read_help(&reader) || read_head(&reader) ||
                         read_included(&reader) || is_excerpt(&reader);
        if (!reader.in_diag) {
            text_bytes(report, reader.line.text, reader.line.size);
            text_char(report, '\n');
        }
        reader.before = reader.line;
        reader.report_size = before;
    }
}

/* --------------------------------------------------------------------------- outcomes ---- */

void golden_run(const struct golden *golden, uint32_t index, const struct cli *cli,
                struct golden_outcome *outcome)
{
    const struct golden_command *command = &golden->commands.at[index];
    struct cli steady = *cli;
    bool changes = false;
    steady.steady = true;
    *outcome = (struct golden_outcome){.status = EXIT_DEFECT};
    outcome->status = run_command(&steady, make_argv(golden, index, &outcome->arena), &outcome->out,
                                  &outcome->err);
    /* `fmt` prints what follows its input as it is: these very expectations. */
    const char *expect = source_find_expect(outcome->out.at, outcome->out.size);
    if (expect)
        outcome->out.size = (size_t)(expect - outcome->out.at);
    read_reported(golden, outcome);
    for (uint32_t i = 0; i < command->sections.count; i++)
        changes |= command->sections.at[i].kind == GOLDEN_CHANGES;
    if (changes) { /* the program as it is read and printed; nothing where it cannot be */
        const char *argv[] = {"skirc", "opt", golden->path, NULL};
        struct text err;
        if (run_command(cli, argv, &outcome->canonical, &err) != EXIT_DONE)
            outcome->canonical.size = 0;
        text_free(&err);
    }
}

void golden_outcome_free(struct golden_outcome *outcome)
{
    text_free(&outcome->out);
    text_free(&outcome->err);
    text_free(&outcome->report);
    text_free(&outcome->canonical);
    mem_free(outcome->held);
    vec_free(&outcome->reported);
    arena_free(&outcome->arena);
}
