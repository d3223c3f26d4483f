#include "frontend/filetest/golden.h"
#include "frontend/filetest/golden_scan.h"
#include "ir/support/stream.h"

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

/* --------------------------------------------------------------- reported diagnostics ---- */

/* The error stream, line by line. */
struct reader {
    struct golden_outcome *outcome;
    const char *prefix;     /* "FILE:" */
    const char *head;       /* the line before; NULL at the first */
    const char *line, *end; /* this one */
    size_t head_report;     /* size of the report before the line before */
    bool in_diag;           /* the line before belongs to a diagnostic */
};

/* "12:" */
static bool take_line(const char **text, const char *end, uint32_t *number)
{
    const char *p = *text;
    if (!scan_take_number(&p, end, number) || !scan_take(&p, end, ":"))
        return false;
    *text = p;
    return true;
}

/* "error: " */
static bool take_severity(const char **text, const char *end, enum golden_severity *severity)
{
    for (int i = 0; i < GOLDEN_SEVERITIES; i++) {
        const char *rest = *text;
        if (!scan_take(&rest, end, golden_severity_text((enum golden_severity)i)) ||
            !scan_take(&rest, end, ": "))
            continue;
        *severity = (enum golden_severity)i;
        *text = rest;
        return true;
    }
    return false;
}

static bool add(const struct reader *reader, struct golden_diag diag, const char *text)
{
    struct golden_outcome *outcome = reader->outcome;
    diag.text = arena_strndup(&outcome->arena, text, (size_t)(reader->end - text));
    vec_push(&outcome->reported, diag);
    return true;
}

/* `FILE:LINE:COLUMN: SEVERITY: TEXT` about a file that the test includes becomes a diagnostic about
 * the test as a file, with the text `NAME:LINE: TEXT`. */
static bool read_included(const struct reader *reader)
{
    struct golden_outcome *outcome = reader->outcome;
    struct golden_diag diag = {.line = 0};
    uint32_t number, column;
    const char *line = reader->line, *end = reader->end;
    const char *colon = memchr(line, ':', (size_t)(end - line)), *name = line;
    if (!colon)
        return false;
    for (const char *p = line; p < colon; p++)
        if (*p == '/')
            name = p + 1;
    const char *text = colon + 1;
    if (!take_line(&text, end, &number) || !take_line(&text, end, &column) ||
        !scan_take(&text, end, " ") || !take_severity(&text, end, &diag.severity))
        return false;
    diag.text = arena_printf(&outcome->arena, "%.*s:%u: %.*s", (int)(colon - name), name, number,
                             (int)(end - text), text);
    vec_push(&outcome->reported, diag);
    return true;
}

/* `  at FILE:LINE:COLUMN` below a head `ORIGIN: SEVERITY: TEXT`: a diagnostic about the line, with
 * the text `ORIGIN: TEXT`. */
static bool read_placed(const struct reader *reader)
{
    struct golden_diag diag = {.line = 0};
    const char *p = reader->line;
    if (!reader->head || !scan_take(&p, reader->end, "  at ") ||
        !scan_take(&p, reader->end, reader->prefix) || !take_line(&p, reader->end, &diag.line))
        return false;
    for (const char *text, *colon = reader->head; colon + 2 < reader->line; colon++) {
        text = colon + 2;
        if (colon[0] != ':' || colon[1] != ' ' ||
            !take_severity(&text, reader->line, &diag.severity))
            continue;
        diag.text = arena_printf(&reader->outcome->arena, "%.*s: %.*s", (int)(colon - reader->head),
                                 reader->head, (int)(reader->line - 1 - text), text);
        vec_push(&reader->outcome->reported, diag);
        return true;
    }
    return false;
}

/* `FILE:LINE:COLUMN: SEVERITY: TEXT`, or `FILE: TEXT` and `skirc: TEXT`, an error if no severity is
 * named. */
static bool read_head(const struct reader *reader)
{
    struct golden_diag diag = {.severity = GOLDEN_ERROR};
    uint32_t column;
    const char *p = reader->line, *end = reader->end;
    if (scan_take(&p, end, reader->prefix)) {
        const char *position = p;
        if (!take_line(&p, end, &diag.line) || !take_line(&p, end, &column)) {
            diag.line = 0;
            p = position;
        }
    } else if (!scan_take(&p, end, "skirc:")) {
        return false;
    }
    while (p < end && *p == ' ')
        p++;
    take_severity(&p, end, &diag.severity);
    return add(reader, diag, p);
}

static bool read_help(const struct reader *reader)
{
    const struct golden_diags *reported = &reader->outcome->reported;
    struct golden_diag diag = {.severity = GOLDEN_HELP};
    const char *p = reader->line;
    if (!scan_take(&p, reader->end, "  help: "))
        return false;
    diag.line = reported->count ? reported->at[reported->count - 1].line : 0;
    return add(reader, diag, p);
}

/* A line of the source below a diagnostic, or its caret: `   12 | ` and `      | `. */
static bool is_excerpt(const struct reader *reader)
{
    const char *p = reader->line;
    uint32_t number;
    while (p < reader->end && *p == ' ')
        p++;
    scan_take_number(&p, reader->end, &number);
    return reader->in_diag && scan_take(&p, reader->end, p > reader->line ? " | " : "  | ");
}

static void read_reported(const struct golden *golden, struct golden_outcome *outcome)
{
    struct reader reader = {.outcome = outcome,
                            .prefix = arena_printf(&outcome->arena, "%s:", golden->path)};
    const char *end = outcome->err + outcome->err_size;
    for (const char *line = outcome->err; line < end; line = reader.end + 1) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        reader.line = line;
        reader.end = stop ? stop : end;
        struct text *report = &reader.outcome->report;
        size_t before = report->size;
        bool placed = read_placed(&reader);
        if (placed)
            report->size = reader.head_report;
        reader.in_diag = placed || read_help(&reader) || read_head(&reader) ||
                         read_included(&reader) || is_excerpt(&reader);
        if (!reader.in_diag) {
            text_bytes(report, reader.line, (size_t)(reader.end - reader.line));
            text_char(report, '\n');
        }
        reader.head = reader.line;
        reader.head_report = before;
    }
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
    read_reported(golden, outcome);
    if (wants_canonical(command))
        print_canonical(golden, cli, outcome);
}

void golden_outcome_free(struct golden_outcome *outcome)
{
    mem_free(outcome->out);
    mem_free(outcome->err);
    mem_free(outcome->held);
    for (uint32_t i = 0; i < outcome->n_checks; i++) {
        text_free(&outcome->checks[i].changes);
        mem_free(outcome->checks[i].repairs);
    }
    mem_free(outcome->checks);
    text_free(&outcome->report);
    text_free(&outcome->canonical);
    vec_free(&outcome->reported);
    arena_free(&outcome->arena);
}
