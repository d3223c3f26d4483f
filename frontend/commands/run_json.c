#include "frontend/commands/run_json.h"
#include "frontend/cli/child_process.h"
#include "frontend/cli/output.h"
#include "frontend/commands/run_answers.h"
#include "frontend/exchange/writers/profile_table.h"

#include <string.h>

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

static void put_runs(struct json *json, const struct outcome *outcome)
{
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

static void put_profile(struct json *json, const struct run_profile *profile, bool steady)
{
    struct profile_table table;
    profile_table_make(&table, profile, steady);
    json_line(json);
    json_key(json, "profile");
    json_open_object(json);
    json_add_unsigned(json, "dropped", profile->dropped);
    profile_table_json(json, &table);
    json_close_object(json);
    profile_table_free(&table);
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
    if (!steady)
        put_runs(json, outcome);
    if (outcome->last.profile)
        put_profile(json, outcome->last.profile, steady);
    json_close_object(json);
}

static void put_ratio(struct json *json, const struct outcomes *outcomes)
{
    struct ratio ratio = samples_ratio(&outcomes->at[0].samples, &outcomes->at[1].samples);
    if (!ratio.known)
        return;
    json_key(json, "times");
    json_open_object(json);
    add_number(json, "ratio", ratio.middle);
    add_number(json, "low", ratio.low);
    add_number(json, "high", ratio.high);
    add_bool(json, "clear", ratio.clear);
    json_close_object(json);
}

static void put_comparison(struct json *json, const struct outcomes *outcomes)
{
    static const char *const verdicts[] = {[VERDICT_EXACT] = "bit-exact",
                                           [VERDICT_CLOSE] = "within the tolerance",
                                           [VERDICT_DIFFERENT] = "different"};
    json_line(json);
    json_key(json, "comparison");
    json_open_object(json);
    json_add_string(json, "results", verdicts[outcomes->verdict]);
    if (!is_steady(outcomes->at[0].runner->invocation))
        put_ratio(json, outcomes);
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

/* The second where it has a module of its own; or NULL. */
static struct runner *other_runner(const struct outcomes *outcomes)
{
    struct runner *last = outcomes->at[outcomes->count - 1].runner;
    return last != outcomes->at[0].runner ? last : NULL;
}

static void put_diags(struct json *json, struct runner *runner, const char *file)
{
    input_diags_json(&runner->lowered.input, json, file);
}

/* Of the two files that are compared, each says which it is. */
static void put_diagnostics(struct json *json, struct runner *runner, struct runner *other)
{
    bool apart = other && runner->compare == COMPARE_FILE;
    json_line(json);
    json_key(json, "diagnostics");
    json_open_array(json);
    put_diags(json, runner, apart ? runner->name : NULL);
    if (other)
        put_diags(json, other, apart ? other->name : NULL);
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

static void put_reports(struct json *json, const struct run_result *result)
{
    json_line(json);
    json_key(json, "reports");
    json_open_array(json);
    for (uint32_t i = 0; i < result->n_reports; i++)
        put_lines(json, result->reports[i]);
    json_close_array(json);
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
        put_reports(json, failed);
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
    put_diagnostics(json, runner, other_runner(outcomes));
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

static bool is_missing(const struct runner *runner, enum exit_status status)
{
    return option_given(runner->invocation, "json") && !runner->json_written &&
           status != EXIT_DONE && status != EXIT_USAGE;
}

/* What there is of a run that has no outcome, up to the diagnostics. */
static void put_no_run(struct json *json)
{
    json_key(json, "runs");
    json_open_array(json);
    json_close_array(json);
    add_bool(json, "repeatable", true);
    put_differences(json, &(struct text){NULL, 0, 0});
}

enum exit_status run_json_refused(struct runner *runner, struct runner *other,
                                  enum exit_status status)
{
    struct text text = {NULL, 0, 0};
    struct json json = {.text = &text};
    if (!is_missing(runner, status))
        return status;
    put_head(&json, runner, status);
    put_no_run(&json);
    put_diagnostics(&json, runner, other);
    json_close_object(&json);
    return write_json(runner, &text, status);
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

enum exit_status run_json_ended(struct runner *runner, const char *said, enum exit_status status)
{
    struct text text = {NULL, 0, 0};
    struct json json = {.text = &text};
    if (!is_missing(runner, status))
        return status;
    put_head(&json, runner, status);
    if (*said)
        put_said(&json, said);
    json_line(&json);
    put_no_run(&json);
    json_line(&json);
    json_key(&json, "diagnostics");
    json_open_array(&json);
    json_close_array(&json);
    json_close_object(&json);
    return write_json(runner, &text, status);
}
