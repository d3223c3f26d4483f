#include "frontend/cli/diff.h"
#include "frontend/golden/golden.h"
#include "frontend/golden/golden_check.h"
#include "frontend/golden/golden_partners.h"

bool golden_is_required(const struct golden *golden, uint32_t command,
                        const struct golden_diag *diag)
{
    return diag->severity == GOLDEN_ERROR || diag->severity == GOLDEN_WARNING ||
           (diag->severity == GOLDEN_REMARK && golden_expects(golden, command, GOLDEN_REMARK));
}

/* ------------------------------------------------------------------------- diagnostics ---- */

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

static bool judge_diagnostics(const struct golden *golden, uint32_t command,
                              const struct golden_outcome *outcome, struct text *report)
{
    bool good = true;
    for (uint32_t i = 0; i < golden->expected.count; i++) {
        const struct golden_diag *diag = &golden->expected.at[i];
        if (outcome->partners[i] == NONE && golden_is_for(diag, command)) {
            report_diag(report, "expected, but not reported", diag);
            good = false;
        }
    }
    for (uint32_t i = 0; i < outcome->reported.count; i++) {
        const struct golden_diag *diag = &outcome->reported.at[i];
        if (diag->match == NONE && golden_is_required(golden, command, diag)) {
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

static bool judge_status(const struct golden *golden, uint32_t command,
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

/* -------------------------------------------------------------------- what is printed ---- */

static bool expects_diagnostics(const struct golden *golden, uint32_t command)
{
    for (uint32_t i = 0; i < golden->expected.count; i++)
        if (golden_is_for(&golden->expected.at[i], command))
            return true;
    return false;
}

/* Of a command whose output nothing is said of: none, but where diagnostics are expected of one
 * that succeeds. */
static bool judge_silence(const struct golden *golden, uint32_t command,
                          const struct golden_outcome *outcome, struct text *report)
{
    bool silent = expects_diagnostics(golden, command);
    if (silent && outcome->status == EXIT_DONE)
        return true;
    size_t before = report->size;
    diff_unified(report, "expected", "", 0, "standard output", outcome->out, outcome->out_size);
    if (!silent)
        text_printf(report,
                    "  nothing is expected of '%s': behind the input, '//! expect' and its output "
                    "say what is, or '//! expect nothing'%s\n",
                    golden->commands.at[command].words.at[0],
                    golden_is_acceptable(outcome) ? "; --bless adds them" : "");
    return report->size == before;
}

static bool judge_output(const struct golden *golden, uint32_t index,
                         const struct golden_outcome *outcome, struct captures *captures,
                         struct text *report)
{
    const struct golden_command *command = &golden->commands.at[index];
    bool good = true;
    if (command->sections.count == 0)
        return judge_silence(golden, index, outcome, report);
    for (uint32_t i = 0; i < command->sections.count; i++)
        good &= golden_check_section(&command->sections.at[i], outcome, captures, report, NULL);
    return good;
}

static bool judge_command(const struct golden *golden, uint32_t command,
                          struct golden_outcome *outcome, struct captures *captures,
                          struct text *report)
{
    golden_find_partners(golden, command, outcome);
    bool diagnostics = judge_diagnostics(golden, command, outcome, report);
    bool status = judge_status(golden, command, outcome, report);
    bool output = judge_output(golden, command, outcome, captures, report);
    return diagnostics && status && output;
}

bool golden_judge(const struct golden *golden, struct golden_outcome *outcomes, struct text *report)
{
    struct captures captures = {NULL, 0, 0};
    bool good = true;
    for (uint32_t i = 0; i < golden->commands.count; i++) {
        struct text wrong = {NULL, 0, 0};
        const struct golden_command *command = &golden->commands.at[i];
        if (!judge_command(golden, i, &outcomes[i], &captures, &wrong)) {
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
