#include "frontend/commands/run_report.h"
#include "frontend/cli/output.h"
#include "frontend/exchange/writers/trace_events.h"

#include <string.h>

enum exit_status run_report_end(const struct outcome *outcome)
{
    const struct run_result *result = &outcome->last;
    const struct invocation *invocation = outcome->runner->invocation;
    if (result->end == RUN_DONE)
        return EXIT_DONE;
    fprintf(invocation->err, "skirc: %s\n", result->cause);
    for (uint32_t i = 0; i < result->n_reports; i++)
        fputs(result->reports[i], invocation->err);
    return EXIT_INPUT;
}

/* ------------------------------------------------------------------------------ files ---- */

enum exit_status run_report_profile(const struct outcome *outcome)
{
    const struct runner *runner = outcome->runner;
    struct text text = {NULL, 0, 0};
    if (!outcome->last.profile || !outcome->fused)
        return EXIT_DONE;
    trace_events_write(&text, outcome->last.profile, is_steady(runner->invocation));
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

static void put_time(const struct runner *runner, const char *what, double seconds)
{
    const struct invocation *invocation = runner->invocation;
    fputs(what, invocation->out);
    put_milliseconds(invocation, invocation->out, 0, seconds * 1e3);
}

/* How many are enough depends on how long they take. */
static void put_count(const struct runner *runner, uint32_t count)
{
    FILE *out = runner->invocation->out;
    if (is_steady(runner->invocation) && runner->repeat == REPEAT_AUTO)
        fputs(" of COUNT runs", out);
    else
        fprintf(out, " of %u run%s", count, count == 1 ? "" : "s");
}

/* There is at least one. */
static void put_times(const struct outcome *outcome)
{
    const struct samples *samples = &outcome->samples;
    const struct runner *runner = outcome->runner;
    bool one = samples->count == 1;
    put_time(runner, one ? "" : "median ", samples_quantile(samples, 0.5));
    put_count(runner, samples->count);
    if (one)
        return;
    put_time(runner, ", minimum ", samples_quantile(samples, 0));
    put_time(runner, ", spread ", samples_spread(samples));
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
        put_times(&outcomes->at[i]);
        fputc('\n', out);
    }
}

/* `a` is what takes longer. */
static void put_ratio(FILE *out, const struct outcome *a, const struct outcome *b,
                      const struct ratio *ratio)
{
    if (!ratio->known)
        fprintf(out, "too few runs to compare their times\n");
    else if (ratio->clear)
        fprintf(out, "%s takes %.2f times as long as %s (%.2f to %.2f)\n", a->name, ratio->middle,
                b->name, ratio->low, ratio->high);
    else
        fprintf(out, "no difference but noise: %s takes %.2f to %.2f times as long as %s\n",
                a->name, ratio->low, ratio->high, b->name);
}

static void print_ratio(const struct outcomes *outcomes)
{
    const struct outcome *a = &outcomes->at[0], *b = &outcomes->at[1];
    FILE *out = a->runner->invocation->out;
    struct ratio ratio = samples_ratio(&a->samples, &b->samples);
    if (is_steady(a->runner->invocation) && ratio.known)
        fprintf(out, "%s takes RATIO times as long as %s\n", b->name, a->name);
    else if (ratio.known && ratio.middle < 1) {
        ratio = samples_ratio(&b->samples, &a->samples);
        put_ratio(out, b, a, &ratio);
    } else
        put_ratio(out, a, b, &ratio);
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
    if (outcome->samples.count) {
        put_times(outcome);
        return;
    }
    put_time(outcome->runner, "", outcome->first);
    fputs(" (first run)", out);
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
