#include "frontend/commands/run_report.h"
#include "frontend/cli/output.h"
#include "frontend/exchange/writers/trace_events.h"

#include <string.h>
#include <unistd.h>

/* What kernels that do not return use must not go away. */
static _Noreturn void leave(const struct invocation *invocation)
{
    fflush(invocation->out);
    fflush(invocation->err);
    _exit(EXIT_INPUT);
}

enum exit_status run_report_end(const struct outcome *outcome)
{
    const struct run_result *result = &outcome->last;
    const struct invocation *invocation = outcome->runner->invocation;
    if (result->end == RUN_DONE)
        return EXIT_DONE;
    fprintf(invocation->err, "skirc: %s\n", result->cause);
    for (uint32_t i = 0; i < result->n_reports; i++)
        fputs(result->reports[i], invocation->err);
    if (result->end == RUN_STUCK)
        leave(invocation);
    return EXIT_INPUT;
}

/* ------------------------------------------------------------------------------ files ---- */

enum exit_status run_report_profile(const struct outcome *outcome)
{
    const struct runner *runner = outcome->runner;
    struct text text = {NULL, 0, 0};
    if (!outcome->last.profile || !outcome->fused)
        return EXIT_DONE;
    trace_events_write(&text, outcome->last.profile);
    enum exit_status status = write_output(runner->invocation, runner->profile, &text);
    text_free(&text);
    return status;
}

enum exit_status run_report_trace(const struct outcome *outcome)
{
    const struct runner *runner = outcome->runner;
    struct text text = {NULL, 0, 0};
    if (!runner->trace || !outcome->fused)
        return EXIT_DONE;
    text_bytes(&text, outcome->last.trace, outcome->last.trace_size);
    enum exit_status status = write_output(runner->invocation, runner->trace, &text);
    text_free(&text);
    return status;
}

/* ------------------------------------------------------------------------------ times ---- */

static double milliseconds(const struct samples *samples, double part)
{
    return samples_quantile(samples, part) * 1e3;
}

/* There is at least one. */
static void put_times(FILE *out, const struct samples *samples)
{
    if (samples->count == 1)
        fprintf(out, "%.3f ms of 1 run", milliseconds(samples, 0));
    else
        fprintf(out, "median %.3f ms of %u runs, minimum %.3f ms, spread %.3f ms",
                milliseconds(samples, 0.5), samples->count, milliseconds(samples, 0),
                samples_spread(samples) * 1e3);
}

static void print_times(const struct outcomes *outcomes)
{
    FILE *out = outcomes->at[0].runner->invocation->out;
    int width = 0;
    for (unsigned i = 0; i < outcomes->count; i++) {
        int size = (int)strlen(outcomes->at[i].name);
        width = size > width ? size : width;
    }
    for (unsigned i = 0; i < outcomes->count; i++) {
        const char *name = outcomes->at[i].name;
        fprintf(out, "%s: %*s", name, width - (int)strlen(name), "");
        put_times(out, &outcomes->at[i].samples);
        fputc('\n', out);
    }
}

/* What takes longer stands first. */
static void print_ratio(const struct outcomes *outcomes)
{
    const struct outcome *a = &outcomes->at[0], *b = &outcomes->at[1];
    FILE *out = a->runner->invocation->out;
    struct ratio ratio = samples_ratio(&a->samples, &b->samples);
    if (ratio.known && ratio.middle < 1) {
        const struct outcome *other = a;
        a = b;
        b = other;
        ratio = samples_ratio(&a->samples, &b->samples);
    }
    if (!ratio.known)
        fprintf(out, "too few runs to compare their times\n");
    else if (ratio.clear)
        fprintf(out, "%s takes %.2f times as long as %s (%.2f to %.2f)\n", a->name, ratio.middle,
                b->name, ratio.low, ratio.high);
    else
        fprintf(out, "no difference but noise: %s takes %.2f to %.2f times as long as %s\n",
                a->name, ratio.low, ratio.high, b->name);
}

/* ---------------------------------------------------------------------------- summary ---- */

static const char *count_text(char *text, size_t size, uint32_t count, const char *noun)
{
    snprintf(text, size, "%u %s%s", count, noun,
             count == 1                      ? ""
             : noun[strlen(noun) - 1] == 'h' ? "es"
                                             : "s");
    return text;
}

static void put_launches(FILE *out, const struct outcome *outcome)
{
    char launches[40];
    fprintf(out, " in %s", count_text(launches, sizeof launches, outcome->run->launches, "launch"));
}

/* One way alone: its times stand in the line. */
static void put_own_times(FILE *out, const struct outcome *outcome)
{
    fputs(", ", out);
    if (outcome->samples.count == 0)
        fprintf(out, "%.3f ms (first run)", outcome->first * 1e3);
    else
        put_times(out, &outcome->samples);
}

static void put_verdicts(FILE *out, const struct outcomes *outcomes)
{
    static const char *const verdicts[] = {[VERDICT_EXACT] = "; bit-exact",
                                           [VERDICT_CLOSE] = "; within the tolerance",
                                           [VERDICT_DIFFERENT] = "; DIFFERENT"};
    char orders[40];
    if (outcomes->count > 1)
        fputs(verdicts[outcomes->verdict], out);
    if (!outcomes->repeatable)
        fputs("; DIFFERENT from run to run", out);
    if (outcomes->at[0].runner->race_check)
        fprintf(out, "; race-free (%s)",
                count_text(orders, sizeof orders, outcomes->at[0].run->orders, "order"));
}

void run_report_summary(const struct outcomes *outcomes)
{
    const struct runner *runner = outcomes->at[0].runner;
    FILE *out = runner->invocation->out;
    char ops[40];
    const struct intern_name *name = &runner->module->names.names[runner->graph->name];
    if (outcomes->differences.size)
        fwrite(outcomes->differences.at, 1, outcomes->differences.size, out);
    if (outcomes->count > 1 && outcomes->at[0].samples.count) {
        print_times(outcomes);
        print_ratio(outcomes);
    }
    diag_put(out, name->text, name->size);
    fprintf(out, ": %s", count_text(ops, sizeof ops, runner->graph->ops.count, "op"));
    put_launches(out, &outcomes->at[0]);
    if (outcomes->count == 1)
        put_own_times(out, &outcomes->at[0]);
    for (unsigned i = 1; i < outcomes->count; i++) {
        const struct outcome *outcome = &outcomes->at[i];
        fprintf(out, "; %s", outcome->name);
        if (outcome->runner != runner)
            fprintf(out, ": %s",
                    count_text(ops, sizeof ops, outcome->runner->graph->ops.count, "op"));
        put_launches(out, outcome);
    }
    put_verdicts(out, outcomes);
    fputc('\n', out);
}
