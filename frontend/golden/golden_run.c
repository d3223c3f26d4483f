#include "frontend/cli/diff.h"
#include "frontend/golden/golden.h"
#include "ir/base/file.h"
#include "ir/base/stream.h"

#include <string.h>

/* ----------------------------------------------------------------------- the command ---- */

/* skirc COMMAND --color=never --max-errors=0 [--remarks] ARGUMENTS FILE. The options of the file
 * come later, so that they count. For `opt`, a first word that is no option is the list of
 * passes. */
static const char **make_argv(const struct golden *golden, struct arena *arena, int *argc)
{
    const char **argv = arena_alloc(arena, (golden->words.count + 7) * sizeof *argv);
    int n = 0;
    argv[n++] = "skirc";
    argv[n++] = golden->words.at[0];
    argv[n++] = "--color=never";
    argv[n++] = "--max-errors=0";
    if (golden_expects(golden, GOLDEN_REMARK))
        argv[n++] = "--remarks";
    bool opt = strcmp(golden->words.at[0], "opt") == 0;
    for (uint32_t i = 1; i < golden->words.count; i++) {
        const char *word = golden->words.at[i];
        argv[n++] =
            opt && i == 1 && word[0] != '-' ? arena_printf(arena, "--passes=%s", word) : word;
    }
    argv[n++] = golden->path;
    argv[n] = NULL;
    *argc = n;
    return argv;
}

/* ---------------------------------------------------------------- reported diagnostics ---- */

static bool take_prefix(const char **text, const char *end, const char *prefix)
{
    size_t size = strlen(prefix);
    if ((size_t)(end - *text) < size || memcmp(*text, prefix, size) != 0)
        return false;
    *text += size;
    return true;
}

/* "12:" */
static bool take_number(const char **text, const char *end, uint32_t *number)
{
    const char *p = *text;
    uint64_t n = 0;
    while (p < end && *p >= '0' && *p <= '9' && n < UINT32_MAX)
        n = n * 10 + (uint64_t)(*p++ - '0');
    if (p == *text || p == end || *p != ':')
        return false;
    *number = (uint32_t)n;
    *text = p + 1;
    return true;
}

/* "error: " */
static bool take_severity(const char **text, const char *end, enum golden_severity *severity)
{
    for (int i = 0; i < GOLDEN_SEVERITIES; i++) {
        const char *rest = *text;
        if (!take_prefix(&rest, end, golden_severity_text((enum golden_severity)i)) ||
            !take_prefix(&rest, end, ": "))
            continue;
        *severity = (enum golden_severity)i;
        *text = rest;
        return true;
    }
    return false;
}

/* `FILE:LINE:COLUMN: SEVERITY: TEXT` about a file that the test includes: it is about the test as a
 * file, with the text `NAME:LINE: TEXT`. */
static void read_included(struct golden_outcome *outcome, const char *line, const char *end)
{
    struct golden_diag diag = {.match = NONE};
    uint32_t number, column;
    const char *colon = memchr(line, ':', (size_t)(end - line)), *name = line;
    if (!colon)
        return;
    for (const char *p = line; p < colon; p++)
        if (*p == '/')
            name = p + 1;
    const char *text = colon + 1;
    if (!take_number(&text, end, &number) || !take_number(&text, end, &column) ||
        !take_prefix(&text, end, " ") || !take_severity(&text, end, &diag.severity))
        return;
    diag.text = arena_printf(&outcome->arena, "%.*s:%u: %.*s", (int)(colon - name), name, number,
                             (int)(end - text), text);
    vec_push(&outcome->reported, diag);
}

/* Reads one line of the error stream: `FILE:LINE:COLUMN: SEVERITY: TEXT`, `FILE: TEXT` (an error if
 * no severity is named), or the help below a diagnostic. Other lines are not about the input. */
static void read_diagnostic(struct golden_outcome *outcome, const char *prefix, const char *line,
                            const char *end)
{
    struct golden_diags *reported = &outcome->reported;
    struct golden_diag diag = {.severity = GOLDEN_ERROR, .match = NONE};
    uint32_t column;
    const char *p = line;
    if (take_prefix(&p, end, "  help: ")) {
        diag.severity = GOLDEN_HELP;
        diag.line = reported->count ? reported->at[reported->count - 1].line : 0;
    } else if (!take_prefix(&p, end, prefix)) {
        read_included(outcome, line, end);
        return;
    } else {
        const char *position = p;
        if (!take_number(&p, end, &diag.line) || !take_number(&p, end, &column)) {
            diag.line = 0;
            p = position;
        }
        while (p < end && *p == ' ')
            p++;
        take_severity(&p, end, &diag.severity);
    }
    diag.text = arena_strndup(&outcome->arena, p, (size_t)(end - p));
    vec_push(reported, diag);
}

/* `  at FILE:LINE:COLUMN` below a head `ORIGIN: SEVERITY: TEXT`: a diagnostic about the line, with
 * the text `ORIGIN: TEXT`. */
static void read_placed(struct golden_outcome *outcome, const char *prefix, const char *head,
                        const char *line, const char *end)
{
    struct golden_diag diag = {.match = NONE};
    const char *p = line;
    if (!take_prefix(&p, end, "  at ") || !take_prefix(&p, end, prefix) ||
        !take_number(&p, end, &diag.line))
        return;
    for (const char *text, *colon = head; colon + 2 < line; colon++) {
        text = colon + 2;
        if (colon[0] != ':' || colon[1] != ' ' || !take_severity(&text, line, &diag.severity))
            continue;
        diag.text = arena_printf(&outcome->arena, "%.*s: %.*s", (int)(colon - head), head,
                                 (int)(line - 1 - text), text);
        vec_push(&outcome->reported, diag);
        return;
    }
}

static void read_diagnostics(const struct golden *golden, struct golden_outcome *outcome)
{
    const char *prefix = arena_printf(&outcome->arena, "%s:", golden->path);
    const char *end = outcome->err + outcome->err_size, *head = NULL;
    for (const char *line = outcome->err; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if (!stop)
            stop = end;
        if (head)
            read_placed(outcome, prefix, head, line, stop);
        read_diagnostic(outcome, prefix, line, stop);
        head = line;
        line = stop + 1;
    }
}

void golden_run(const struct golden *golden, const struct cli *cli, struct golden_outcome *outcome)
{
    *outcome = (struct golden_outcome){.status = EXIT_DEFECT};
    struct stream out, err;
    stream_open(&out);
    stream_open(&err);
    int argc;
    const char **argv = make_argv(golden, &outcome->arena, &argc);
    outcome->status = cli_main(cli, argc, argv, out.file, err.file);
    outcome->out = stream_close(&out, &outcome->out_size);
    outcome->err = stream_close(&err, &outcome->err_size);
    /* `fmt` prints what follows its input as it is: this very expectation. */
    const char *expect = source_find_expect(outcome->out, outcome->out_size);
    if (expect)
        outcome->out_size = (size_t)(expect - outcome->out);
    read_diagnostics(golden, outcome);
}

void golden_outcome_free(struct golden_outcome *outcome)
{
    mem_free(outcome->out);
    mem_free(outcome->err);
    vec_free(&outcome->reported);
    arena_free(&outcome->arena);
}

/* --------------------------------------------------------------------------- matching ---- */

static bool fits(const struct golden_diag *expected, const struct golden_diag *reported)
{
    return expected->severity == reported->severity && expected->line == reported->line &&
           strstr(reported->text, expected->text);
}

/* Finds a partner for an expectation, if need be by finding another one for the partner's own. Each
 * reported diagnostic is tried once per search; `tried` has the number of its last one. */
static bool find_partner(struct golden_diags *expected, struct golden_diags *reported, uint32_t i,
                         uint32_t *tried, uint32_t search)
{
    for (uint32_t j = 0; j < reported->count; j++) {
        struct golden_diag *diag = &reported->at[j];
        if (tried[j] == search || !fits(&expected->at[i], diag))
            continue;
        tried[j] = search;
        if (diag->match != NONE && !find_partner(expected, reported, diag->match, tried, search))
            continue;
        diag->match = i;
        expected->at[i].match = j;
        return true;
    }
    return false;
}

static void match_diagnostics(struct golden *golden, struct golden_outcome *outcome)
{
    uint32_t *tried = mem_calloc(outcome->reported.count, sizeof *tried);
    for (uint32_t i = 0; i < golden->expected.count; i++)
        find_partner(&golden->expected, &outcome->reported, i, tried, i + 1);
    mem_free(tried);
}

/* -------------------------------------------------------------------------- judgement ---- */

static void report_diag(struct text *report, const char *what, const struct golden_diag *diag)
{
    text_printf(report, "  %s: ", what);
    if (diag->line)
        text_printf(report, "line %u: ", diag->line);
    text_printf(report, "%s: %s\n", golden_severity_text(diag->severity), diag->text);
}

static bool judge_diagnostics(const struct golden *golden, const struct golden_outcome *outcome,
                              struct text *report)
{
    bool good = true;
    for (uint32_t i = 0; i < golden->expected.count; i++) {
        if (golden->expected.at[i].match == NONE) {
            report_diag(report, "expected, but not reported", &golden->expected.at[i]);
            good = false;
        }
    }
    for (uint32_t i = 0; i < outcome->reported.count; i++) {
        const struct golden_diag *diag = &outcome->reported.at[i];
        if (diag->match == NONE && golden_is_required(golden, diag)) {
            report_diag(report, "reported, but not expected", diag);
            good = false;
        }
    }
    if (good)
        return true;
    for (uint32_t i = 0; i < golden->expected.count; i++)
        report_diag(report, "all expected", &golden->expected.at[i]);
    for (uint32_t i = 0; i < outcome->reported.count; i++)
        report_diag(report, "all reported", &outcome->reported.at[i]);
    return false;
}

static bool judge_status(const struct golden *golden, const struct golden_outcome *outcome,
                         struct text *report)
{
    int wanted = golden_expects(golden, GOLDEN_ERROR) ? EXIT_INPUT : EXIT_DONE;
    if (outcome->status == wanted)
        return true;
    text_printf(report, "  exit status %d instead of %d\n", outcome->status, wanted);
    if (outcome->err_size) {
        text_string(report, "  standard error:\n");
        text_bytes(report, outcome->err, outcome->err_size);
        if (outcome->err[outcome->err_size - 1] != '\n')
            text_char(report, '\n');
    }
    return false;
}

static bool judge_output(const struct golden *golden, const struct golden_outcome *outcome,
                         struct text *report)
{
    if (!golden_compares_output(golden, outcome))
        return true;
    size_t before = report->size;
    diff_unified(report, "expected", golden->output ? golden->output : "", golden->output_size,
                 "standard output", outcome->out, outcome->out_size);
    return report->size == before;
}

bool golden_judge(struct golden *golden, struct golden_outcome *outcome, struct text *report)
{
    match_diagnostics(golden, outcome);
    bool diagnostics = judge_diagnostics(golden, outcome, report);
    bool status = judge_status(golden, outcome, report);
    bool output = judge_output(golden, outcome, report);
    return diagnostics && status && output;
}

/* ------------------------------------------------------------------------------ files ---- */

static bool test_once(const struct cli *cli, const char *path, struct text *report,
                      struct text *blessed)
{
    struct golden golden = {.path = path};
    struct golden_outcome outcome;
    struct file_bytes bytes;
    char error[512];
    if (!file_read(path, &bytes, error, sizeof error)) {
        text_printf(report, "  %s\n", error);
        return false;
    }
    bool passed = false;
    if (!golden_parse(&golden, path, bytes.data, bytes.size, error, sizeof error)) {
        text_printf(report, "  %s\n", error);
    } else {
        golden_run(&golden, cli, &outcome);
        passed = golden_judge(&golden, &outcome, report);
        if (!passed && blessed && (outcome.status == EXIT_DONE || outcome.status == EXIT_INPUT))
            golden_bless(&golden, &outcome, blessed);
        golden_outcome_free(&outcome);
    }
    golden_free(&golden);
    file_bytes_free(&bytes);
    return passed;
}

/* What a test prints may hold its own comments, so it can take several rounds until it passes. */
enum { BLESS_ROUNDS = 4 };

enum golden_verdict golden_test_file(const struct cli *cli, const char *path, bool bless,
                                     struct text *report)
{
    struct text text = {NULL, 0, 0};
    enum golden_verdict verdict = GOLDEN_FAILED;
    char error[512];
    for (int round = 0; round <= (bless ? BLESS_ROUNDS : 0); round++) {
        report->size = 0;
        text.size = 0;
        if (test_once(cli, path, report, bless && round < BLESS_ROUNDS ? &text : NULL)) {
            verdict = round ? GOLDEN_BLESSED : GOLDEN_PASSED;
            break;
        }
        if (text.size == 0)
            break;
        if (!file_write(path, text.at, text.size, error, sizeof error)) {
            text_printf(report, "  %s\n", error);
            break;
        }
    }
    if (verdict == GOLDEN_FAILED && bless)
        text_string(report, "  this cannot be accepted as it is\n");
    text_free(&text);
    return verdict;
}
