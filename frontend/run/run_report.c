#include "frontend/driver/child_process.h"
#include "frontend/driver/module_io.h"
#include "frontend/export/profile.h"
#include "frontend/run/run_answers.h"
#include "frontend/run/run_report.h"

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

/* There is at least one. */
static void put_times(const struct outcome *outcome)
{
    const struct samples *samples = &outcome->samples;
    const struct runner *runner = outcome->runner;
    bool one = samples->count == 1;
    put_time(runner, one ? "" : "median ", samples_quantile(samples, 0.5));
    /* How many are enough depends on how long they take. */
    FILE *out = runner->invocation->out;
    if (is_steady(runner->invocation) && runner->repeat == REPEAT_AUTO)
        fputs(" of COUNT runs", out);
    else
        fprintf(out, " of %u run%s", samples->count, samples->count == 1 ? "" : "s");
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
    if (outcomes->count == 1) {
        fputs(", ", out);
        if (outcomes->at[0].samples.count)
            put_times(&outcomes->at[0]);
        else
            put_time(runner, "", outcomes->at[0].first);
        fputs(outcomes->at[0].samples.count ? "" : " (first run)", out);
    }
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

/* ------------------------------------------------------------------------- profile ---- */

/* The file has all. */
enum { MOST_ROWS = 20 };

struct printing {
    const struct invocation *invocation;
    FILE *out;
    const struct profile_table *table, *other; /* or NULL */
    const char *other_name;
};

static void put_nanoseconds(const struct printing *printing, uint64_t ns)
{
    put_milliseconds(printing->invocation, printing->out, 12, (double)ns * 1e-6);
}

static void print_row(const struct printing *printing, const struct profile_row *row)
{
    FILE *out = printing->out;
    put_nanoseconds(printing, row->all);
    fputs("  ", out);
    put_nanoseconds(printing, row->longest);
    fputs("  ", out);
    if (is_steady(printing->invocation))
        fprintf(printing->out, "%7s", "SHARE");
    else
        fprintf(printing->out, "%5.1f %%", profile_row_share(printing->table, row) * 100);
    fprintf(out, "  %4u %s", row->cores, profile_core_names[row->type]);
    if (printing->other) {
        const struct profile_row *same = profile_table_find(printing->other, row);
        fputs("  ", out);
        if (same)
            put_nanoseconds(printing, same->all);
        else
            fprintf(out, "%12s", "-");
    }
    fprintf(out, "  %s%s%s\n", row->name, row->launch ? " in " : ", alone",
            row->launch ? row->launch : "");
}

static void print_rows(const struct printing *printing, const char *title, const char *what,
                       uint32_t first, uint32_t end)
{
    FILE *out = printing->out;
    if (first == end)
        return;
    fprintf(out, "%s\n%12s  %12s  %7s  %8s", title, "all cores", "longest core", "share", "cores");
    if (printing->other)
        fprintf(out, "  %12s", printing->other_name);
    fprintf(out, "  %s\n", what);
    for (uint32_t i = first; i < end && i < first + MOST_ROWS; i++)
        print_row(printing, &printing->table->rows[i]);
    if (end - first > MOST_ROWS)
        fprintf(out, "and %u more\n", end - first - MOST_ROWS);
}

void run_profile_print(const struct outcomes *outcomes)
{
    const struct run_profile *profile = outcomes->at[0].last.profile;
    const struct run_profile *second = outcomes->count > 1 ? outcomes->at[1].last.profile : NULL;
    struct profile_table table = {.rows = NULL}, other = {.rows = NULL};
    const struct invocation *invocation = outcomes->at[0].runner->invocation;
    if (!profile)
        return;
    profile_table_make(&table, profile, is_steady(invocation));
    if (second)
        profile_table_make(&other, second, is_steady(invocation));
    const struct printing printing = {.invocation = invocation,
                                      .out = invocation->out,
                                      .table = &table,
                                      .other = second ? &other : NULL,
                                      .other_name = outcomes->at[1].name};
    print_rows(&printing, "time in which cores worked:", "op", 0, table.n_ops);
    print_rows(&printing, "time in which cores were blocked:", "at", table.n_ops, table.count);
    profile_table_free(&table);
    profile_table_free(&other);
}

/* ---------------------------------------------------------------------------- JSON ---- */

static void add_number(struct json *json, const char *key, double number)
{
    json_key(json, key);
    json_double(json, number);
}

static void add_bool(struct json *json, const char *key, bool value)
{
    json_key(json, key);
    json_bool(json, value);
}

/* Whole nanoseconds. */
static double milliseconds(double seconds)
{
    return (double)(uint64_t)(seconds * 1e9 + 0.5) / 1e6;
}

static void put_outcome(struct json *json, const struct outcome *outcome)
{
    const struct runner *runner = outcome->runner;
    bool steady = is_steady(runner->invocation);
    const struct intern_name *graph = &runner->module->names.names[runner->graph->name];
    json_line(json);
    json_open_object(json);
    json_add_string(json, "name", outcome->name);
    json_add_bytes(json, "graph", graph->text, graph->size);
    json_add_unsigned(json, "ops", runner->graph->ops.count);
    json_add_unsigned(json, "launches", outcome->run ? outcome->run->launches : 0);
    if (!steady) {
        const struct samples *samples = &outcome->samples;
        json_add_unsigned(json, "runs", outcome->runs);
        add_number(json, "first_ms", milliseconds(outcome->first));
        if (samples->count) {
            add_number(json, "median_ms", milliseconds(samples_quantile(samples, 0.5)));
            add_number(json, "minimum_ms", milliseconds(samples_quantile(samples, 0)));
            add_number(json, "spread_ms", milliseconds(samples_spread(samples)));
        }
        json_line(json);
        json_key(json, "times_ms");
        json_open_array(json);
        for (uint32_t i = 0; i < samples->count; i++)
            json_double(json, milliseconds(samples->at[i]));
        json_close_array(json);
    }
    if (outcome->last.profile) {
        struct profile_table table;
        profile_table_make(&table, outcome->last.profile, steady);
        json_line(json);
        json_key(json, "profile");
        json_open_object(json);
        json_add_unsigned(json, "dropped", outcome->last.profile->dropped);
        profile_table_json(json, &table);
        json_close_object(json);
        profile_table_free(&table);
    }
    json_close_object(json);
}

static void put_comparison(struct json *json, const struct outcomes *outcomes)
{
    static const char *const verdicts[] = {[VERDICT_EXACT] = "bit-exact",
                                           [VERDICT_CLOSE] = "within the tolerance",
                                           [VERDICT_DIFFERENT] = "different"};
    struct ratio ratio = samples_ratio(&outcomes->at[0].samples, &outcomes->at[1].samples);
    json_line(json);
    json_key(json, "comparison");
    json_open_object(json);
    json_add_string(json, "results", verdicts[outcomes->verdict]);
    if (!is_steady(outcomes->at[0].runner->invocation) && ratio.known) {
        json_key(json, "times");
        json_open_object(json);
        add_number(json, "ratio", ratio.middle);
        add_number(json, "low", ratio.low);
        add_number(json, "high", ratio.high);
        add_bool(json, "clear", ratio.clear);
        json_close_object(json);
    }
    json_close_object(json);
}

static void put_differences(struct json *json, const struct text *lines)
{
    json_line(json);
    json_key(json, "differences");
    json_open_array(json);
    for (size_t begin = 0, end; begin < lines->size; begin = end + 1) {
        const char *newline = memchr(lines->at + begin, '\n', lines->size - begin);
        end = newline ? (size_t)(newline - lines->at) : lines->size;
        json_bytes(json, lines->at + begin, end - begin);
    }
    json_close_array(json);
}

/* Of the two files that are compared, each says which it is. */
static void put_diagnostics(struct json *json, struct runner *runner, struct runner *other)
{
    bool apart = other && runner->compare == COMPARE_FILE;
    json_line(json);
    json_key(json, "diagnostics");
    json_open_array(json);
    input_diags_json(&runner->lowered.input, json, apart ? runner->name : NULL);
    if (other)
        input_diags_json(&other->lowered.input, json, apart ? other->name : NULL);
    json_close_array(json);
}

/* Lines, each of which ends. */
static void put_lines(struct json *json, const char *lines)
{
    while (*lines) {
        size_t size = strcspn(lines, "\n");
        json_bytes(json, lines, size);
        lines += size + (lines[size] != '\0');
    }
}

static void put_head(struct json *json, const struct runner *runner, enum exit_status status)
{
    json_open_object(json);
    json_add_string(json, "file", runner->name);
    json_add_string(json, "target", runner->target->name);
    json_add_unsigned(json, "status", status);
}

static void put_run(struct json *json, const struct outcomes *outcomes, enum exit_status status)
{
    struct runner *runner = outcomes->at[0].runner;
    const struct run_result *failed = NULL;
    put_head(json, runner, status);
    for (unsigned i = 0; i < outcomes->count && !failed; i++)
        failed = outcomes->at[i].last.end == RUN_DONE ? NULL : &outcomes->at[i].last;
    const char *cause = failed ? failed->cause : NULL;
    if (cause) {
        json_add_string(json, "failure", cause);
        json_line(json);
        json_key(json, "reports");
        json_open_array(json);
        for (uint32_t i = 0; i < failed->n_reports; i++)
            put_lines(json, failed->reports[i]);
        json_close_array(json);
    }
    if (!cause && runner->race_check && outcomes->at[0].run)
        json_add_unsigned(json, "orders_checked", outcomes->at[0].run->orders);
    json_line(json);
    json_key(json, "runs");
    json_open_array(json);
    for (unsigned i = 0; i < outcomes->count; i++)
        put_outcome(json, &outcomes->at[i]);
    json_close_array(json);
    if (outcomes->compared)
        put_comparison(json, outcomes);
    add_bool(json, "repeatable", outcomes->repeatable);
    if (outcomes->at[0].runs && !cause)
        run_answers_json(runner, &outcomes->at[0].storages, json);
    put_differences(json, &outcomes->differences);
    struct runner *last = outcomes->at[outcomes->count - 1].runner;
    put_diagnostics(json, runner, last != runner ? last : NULL); /* it has a module of its own */
    json_close_object(json);
}

bool run_json_is_printed(const struct invocation *invocation)
{
    const char *file = option_value(invocation, "json");
    return option_given(invocation, "json") && (!file || strcmp(file, "-") == 0);
}

static enum exit_status write_json(struct runner *runner, struct text *text,
                                   enum exit_status status)
{
    struct invocation invocation = *runner->invocation;
    const char *path = run_json_is_printed(&invocation) ? "-" : option_value(&invocation, "json");
    text_char(text, '\n');
    invocation.out = runner->out;
    enum exit_status written = write_output(&invocation, path, text);
    child_answered(); /* or it cannot be */
    text_free(text);
    runner->json_written = true;
    return worse_status(status, written);
}

enum exit_status run_json_write(const struct outcomes *outcomes, enum exit_status status)
{
    struct text text = {NULL, 0, 0};
    struct json json = {.text = &text};
    if (!option_given(outcomes->at[0].runner->invocation, "json"))
        return status;
    put_run(&json, outcomes, status);
    return write_json(outcomes->at[0].runner, &text, status);
}

/* The first line is the failure. */
static void put_said(struct json *json, const char *said)
{
    static const char prefix[] = "skirc: ";
    if (strncmp(said, prefix, sizeof prefix - 1) == 0)
        said += sizeof prefix - 1;
    size_t size = strcspn(said, "\n");
    json_add_bytes(json, "failure", said, size);
    json_line(json);
    json_key(json, "reports");
    json_open_array(json);
    put_lines(json, said + size + (said[size] != '\0'));
    json_close_array(json);
}

enum exit_status run_json_refused(struct runner *runner, struct runner *other, const char *said,
                                  enum exit_status status)
{
    struct text text = {NULL, 0, 0};
    struct json json = {.text = &text};
    if (!option_given(runner->invocation, "json") || runner->json_written || status == EXIT_DONE ||
        status == EXIT_USAGE)
        return status;
    put_head(&json, runner, status);
    if (*said)
        put_said(&json, said);
    json_line(&json);
    json_key(&json, "runs");
    json_open_array(&json);
    json_close_array(&json);
    add_bool(&json, "repeatable", true);
    put_differences(&json, &(struct text){NULL, 0, 0});
    put_diagnostics(&json, runner, other);
    json_close_object(&json);
    return write_json(runner, &text, status);
}
