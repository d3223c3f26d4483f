/* What is wrong with an outcome. Diagnostics are matched one to one with expectations, in order: an
 * expectation takes the first reported diagnostic of its line and severity that contains its text
 * and that no earlier expectation has taken. */
#define _GNU_SOURCE /* memmem */
#include "frontend/cli/diff.h"
#include "frontend/golden/golden.h"
#include "frontend/golden/golden_changes.h"
#include "frontend/golden/golden_lines.h"

bool golden_is_required(const struct golden *golden, uint32_t command,
                        const struct golden_diag *diag)
{
    return diag->severity == GOLDEN_ERROR || diag->severity == GOLDEN_WARNING ||
           (diag->severity == GOLDEN_REMARK && golden_expects(golden, command, GOLDEN_REMARK));
}

/* ------------------------------------------------------------------------- diagnostics ---- */

static void match_diagnostics(const struct golden *golden, uint32_t command,
                              struct golden_outcome *outcome)
{
    outcome->held = mem_calloc(golden->expected.count, sizeof *outcome->held);
    for (uint32_t i = 0; i < golden->expected.count; i++) {
        const struct golden_diag *expected = &golden->expected.at[i];
        if (!golden_is_for(expected, command))
            continue;
        for (uint32_t k = 0; !outcome->held[i] && k < outcome->reported.count; k++) {
            struct golden_diag *diag = &outcome->reported.at[k];
            if (!diag->matched && diag->line == expected->line &&
                diag->severity == expected->severity && strstr(diag->text, expected->text))
                outcome->held[i] = diag->matched = true;
        }
    }
}

static void report_diag(struct text *report, const char *what, const struct golden_diag *diag)
{
    text_printf(report, "  %s: ", what);
    if (diag->line)
        text_printf(report, "line %u: ", diag->line);
    text_printf(report, "%s: %s\n", golden_severity_text(diag->severity), diag->text);
}

static void report_all(const struct golden *golden, uint32_t command,
                       const struct golden_outcome *outcome, struct text *report)
{
    for (uint32_t i = 0; i < golden->expected.count; i++)
        if (golden_is_for(&golden->expected.at[i], command))
            report_diag(report, "all expected", &golden->expected.at[i]);
    for (uint32_t i = 0; i < outcome->reported.count; i++)
        report_diag(report, "all reported", &outcome->reported.at[i]);
}

static bool compare_diagnostics(const struct golden *golden, uint32_t command,
                                const struct golden_outcome *outcome, struct text *report)
{
    bool good = true;
    for (uint32_t i = 0; i < golden->expected.count; i++) {
        const struct golden_diag *diag = &golden->expected.at[i];
        if (!outcome->held[i] && golden_is_for(diag, command)) {
            report_diag(report, "expected, but not reported", diag);
            good = false;
        }
    }
    for (uint32_t i = 0; i < outcome->reported.count; i++) {
        const struct golden_diag *diag = &outcome->reported.at[i];
        if (!diag->matched && golden_is_required(golden, command, diag)) {
            report_diag(report, "reported, but not expected", diag);
            good = false;
        }
    }
    if (!good)
        report_all(golden, command, outcome, report);
    return good;
}

bool golden_is_acceptable(const struct golden_outcome *outcome)
{
    bool has_error = false;
    for (uint32_t i = 0; i < outcome->reported.count; i++)
        has_error |= outcome->reported.at[i].severity == GOLDEN_ERROR;
    return outcome->status == (has_error ? EXIT_INPUT : EXIT_DONE);
}

static bool compare_status(const struct golden *golden, uint32_t command,
                           const struct golden_outcome *outcome, struct text *report)
{
    int wanted = golden_expects(golden, command, GOLDEN_ERROR) ? EXIT_INPUT : EXIT_DONE;
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

/* ------------------------------------------------------------------------------ output ---- */

static const char *stream_name(const struct golden_section *section)
{
    return section->report ? "report" : "standard output";
}

static uint32_t count_lines(const char *text, const char *end)
{
    uint32_t n = 0;
    while (text < end && (text = memchr(text, '\n', (size_t)(end - text))))
        n++, text++;
    return n;
}

/* A part always has an address, even if it is empty. */
static struct part part_of(const struct text *text)
{
    return (struct part){text->size ? text->at : "", text->size};
}

/* Finds what the section is about. */
static bool find_actual(const struct golden_section *section, const struct golden_outcome *outcome,
                        struct golden_check *check, struct text *report)
{
    struct part all = {outcome->out, outcome->out_size}, missing;
    struct part old = part_of(&outcome->canonical);
    if (section->report)
        all = part_of(&outcome->report);
    check->actual = all;
    check->first = 1;
    if (section->part && !golden_find_part(&check->actual, section->part, &missing)) {
        text_printf(report, "  line %u: the %s has no '%.*s'\n", section->line,
                    stream_name(section), (int)missing.size, missing.text);
        return false;
    }
    if (section->part && !golden_find_part(&old, section->part, &missing))
        old.size = 0;
    if (check->actual.size)
        check->first += count_lines(all.text, check->actual.text);
    if (section->kind == GOLDEN_CHANGES) {
        golden_changes(&check->changes, old, check->actual);
        check->actual = part_of(&check->changes);
    }
    return true;
}

static bool has_crlf(const char *text, size_t size)
{
    return size && memmem(text, size, "\r\n", 2);
}

static bool compare_exact(const struct golden_section *section, const struct part *actual,
                          struct text *report)
{
    char name[300];
    const char *what = section->kind == GOLDEN_CHANGES ? "changes" : stream_name(section);
    size_t before = report->size, size = section->nothing ? 0 : section->size;
    if (section->part)
        snprintf(name, sizeof name, "%s in %s", what, section->part);
    else
        snprintf(name, sizeof name, "%s", what);
    diff_unified(report, "expected", section->text, size, name, actual->text, actual->size);
    if (report->size == before)
        return true;
    if (has_crlf(section->text, size) && !has_crlf(actual->text, actual->size))
        text_string(report, "  the lines of the test end in CR LF, those of the output in LF\n");
    return false;
}

static bool compare_section(struct golden_section *section, const struct golden_outcome *outcome,
                            struct golden_check *check, struct captures *captures,
                            struct text *report)
{
    check->found = find_actual(section, outcome, check, report);
    if (check->found && section->kind == GOLDEN_LINES)
        golden_compare_lines(section, check, captures, report);
    else if (check->found)
        check->passed = compare_exact(section, &check->actual, report);
    return check->passed;
}

static bool expects_diagnostics(const struct golden *golden, uint32_t command)
{
    for (uint32_t i = 0; i < golden->expected.count; i++)
        if (golden_is_for(&golden->expected.at[i], command))
            return true;
    return false;
}

/* The output of a command without sections must be empty, unless the command succeeds and
 * diagnostics are expected of it. */
static bool compare_silence(const struct golden *golden, uint32_t command,
                            const struct golden_outcome *outcome, struct text *report)
{
    bool silent = expects_diagnostics(golden, command);
    if (silent && outcome->status == EXIT_DONE)
        return true;
    size_t before = report->size;
    diff_unified(report, "expected", "", 0, "standard output", outcome->out, outcome->out_size);
    if (!silent)
        text_printf(
            report,
            "  nothing is expected of '%s': add '//! expect' and its output after the input, "
            "or '//! expect nothing'%s\n",
            golden->commands.at[command].words.at[0],
            golden_is_acceptable(outcome) ? "; --bless adds them" : "");
    return report->size == before;
}

static bool compare_output(const struct golden *golden, uint32_t index,
                           struct golden_outcome *outcome, struct captures *captures,
                           struct text *report)
{
    const struct golden_command *command = &golden->commands.at[index];
    bool good = true;
    if (command->sections.count == 0)
        return compare_silence(golden, index, outcome, report);
    outcome->n_checks = command->sections.count;
    outcome->checks = mem_calloc(outcome->n_checks, sizeof *outcome->checks);
    for (uint32_t i = 0; i < outcome->n_checks; i++)
        good &= compare_section(&command->sections.at[i], outcome, &outcome->checks[i], captures,
                                report);
    return good;
}

static bool compare_command(const struct golden *golden, uint32_t command,
                            struct golden_outcome *outcome, struct captures *captures,
                            struct text *report)
{
    match_diagnostics(golden, command, outcome);
    bool diagnostics = compare_diagnostics(golden, command, outcome, report);
    bool status = compare_status(golden, command, outcome, report);
    bool output = compare_output(golden, command, outcome, captures, report);
    return diagnostics && status && output;
}

bool golden_compare(const struct golden *golden, struct golden_outcome *outcomes,
                    struct text *report)
{
    struct captures captures = {NULL, 0, 0};
    bool good = true;
    for (uint32_t i = 0; i < golden->commands.count; i++) {
        struct text wrong = {NULL, 0, 0};
        const struct golden_command *command = &golden->commands.at[i];
        if (!compare_command(golden, i, &outcomes[i], &captures, &wrong)) {
            good = false;
            if (golden->commands.count > 1)
                text_printf(report, "  %.*s\n", (int)command->head_size, command->head);
            text_append(report, &wrong);
        }
        text_free(&wrong);
    }
    vec_free(&captures);
    return good;
}
