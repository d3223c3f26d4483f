#include "frontend/run/run_answers.h"
#include "frontend/run/run_setup.h"
#include "frontend/run/run_values.h"
#include "frontend/tensor/tensor.h"
#include "ir/syntax/spelling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------- options ---- */

/* A number that is not negative; `*given` where the option is. */
static bool read_tolerance(const struct invocation *invocation, const char *option, double *number,
                           bool *given)
{
    const char *text = option_value(invocation, option);
    char *end;
    if (!text)
        return true;
    *given = true;
    *number = strtod(text, &end);
    if (end != text && *end == '\0' && *number >= 0 && isfinite(*number))
        return true;
    usage_error(invocation, "'--%s' needs a number that is not negative, not '%s'", option, text);
    return false;
}

/* Whether each graph of values that are named has storage: it is run. */
static bool check_graphs(const struct runner *runner, const struct named_values *named,
                         const char *option)
{
    uint8_t *run = mem_calloc(runner->module->graphs.count, 1);
    bool ok = true;
    storages_mark_run(runner->module, runner->graph, run);
    for (uint32_t i = 0; ok && i < named->count; i++) {
        uint32_t graph = named->at[i].graph;
        ok = run[graph];
        if (!ok)
            usage_error(runner->invocation, "--%s: '@%.*s' does not call the graph '%.*s'", option,
                        NAME(runner->module, runner->graph->name),
                        NAME(runner->module, runner->module->graphs.at[graph].name));
    }
    mem_free(run);
    return ok;
}

/* Whether something is compared as exactly as --rtol and --atol say. False, with a usage error. */
static bool has_tolerant(const struct runner *runner)
{
    const struct invocation *invocation = runner->invocation;
    const char *option = option_value(invocation, "rtol") ? "rtol" : "atol";
    if (option_given(invocation, "expect") || runner->compare == COMPARE_FILE ||
        runner->compare == COMPARE_OPTIONS)
        return true;
    if (runner->compare == COMPARE_UNFUSED)
        usage_error(invocation,
                    "'--%s' is about '--expect' and other files; '--compare=unfused' compares bit "
                    "for bit",
                    option);
    else
        usage_error(invocation, "'--%s' needs '--expect', or '--compare' with a file or options",
                    option);
    return false;
}

bool run_answers_name(struct runner *runner)
{
    const struct invocation *invocation = runner->invocation;
    bool given = false;
    if (!read_tolerance(invocation, "rtol", &runner->tolerance.relative, &given) ||
        !read_tolerance(invocation, "atol", &runner->tolerance.absolute, &given))
        return false;
    runner->tolerance.exact = !given;
    if (given && !has_tolerant(runner))
        return false;
    return named_values_parse(&runner->printed, invocation, "print", runner->module, runner->graph,
                              NAMED_PRINTED) &&
           named_values_parse(&runner->expected, invocation, "expect", runner->module,
                              runner->graph, NAMED_EXPECTED) &&
           check_graphs(runner, &runner->printed, "print") &&
           check_graphs(runner, &runner->expected, "expect");
}

void run_answers_free(struct runner *runner)
{
    named_values_free(&runner->printed);
    named_values_free(&runner->expected);
}

/* -------------------------------------------------------------------------- answers ---- */

/* "%p", or "@graph.%p" of a graph that is called. */
static void print_name(const struct runner *runner, struct named_value named, struct text *text)
{
    const struct graph *graph = &runner->module->graphs.at[named.graph];
    if (graph != runner->graph)
        text_printf(text, "@%.*s.", NAME(runner->module, graph->name));
    text_printf(text, "%%%.*s", NAME(runner->module, graph->values.at[named.value].name));
}

static void put_type(const struct runner *runner, struct named_value named, struct text *text)
{
    const struct graph *graph = &runner->module->graphs.at[named.graph];
    spell_type(text, runner->module, graph->values.at[named.value].type);
}

static bool take(const struct runner *runner, const struct storages *storages,
                 struct named_value named, const char *option, struct tensor *tensor)
{
    char error[512];
    struct text text = {NULL, 0, 0};
    if (storage_take(&storages->at[named.graph], named.value, tensor, error, sizeof error))
        return true;
    print_name(runner, named, &text);
    fprintf(runner->invocation->err, "skirc: --%s '%.*s': %s\n", option, (int)text.size, text.at,
            error);
    text_free(&text);
    return false;
}

/* A line of which names of others are a part. */
static void put_line(const struct runner *runner, struct text *text)
{
    diag_put(runner->invocation->out, text->at, text->size);
    fputc('\n', runner->invocation->out);
    text_free(text);
}

static bool print_value(const struct runner *runner, const struct storages *storages,
                        struct named_value named)
{
    struct tensor tensor;
    struct text text = {NULL, 0, 0};
    if (!take(runner, storages, named, "print", &tensor))
        return false;
    print_name(runner, named, &text);
    text_string(&text, ": ");
    put_type(runner, named, &text);
    tensor_print_summary(&tensor, &text);
    put_line(runner, &text);
    tensor_print_elements(&tensor, &text);
    fwrite(text.at, 1, text.size, runner->invocation->out);
    text_free(&text);
    tensor_free(&tensor);
    return true;
}

static void print_match(const struct runner *runner, struct named_value named,
                        const struct tensor *found, const struct tensor *expected,
                        const struct match *match)
{
    struct text text = {NULL, 0, 0};
    print_name(runner, named, &text);
    text_printf(&text, " is %s%s", match->different ? "not " : "", named.text);
    /* Exact ones differ by their rounding, if at all. */
    if (match->different || (!runner->tolerance.exact && match->largest_absolute > 0)) {
        text_string(&text, ": ");
        tensor_match_text(found, expected, match, &text);
    }
    put_line(runner, &text);
}

/* Whether there is something that the value can be compared with, and (`compare`) whether it is as
 * expected; says so, or why there is no answer. */
static bool check_value(const struct runner *runner, const struct storages *storages,
                        struct named_value named, bool compare)
{
    struct tensor found, expected = {.data = NULL};
    struct match match = {.different = 0};
    char error[512];
    if (!take(runner, storages, named, "expect", &found))
        return false;
    bool ok = tensor_expect(&expected, &found, named.text, runner->seed + named.value, error,
                            sizeof error);
    if (ok && compare)
        ok = tensor_match(&found, &expected, &runner->tolerance, &match, error, sizeof error);
    if (!ok)
        fprintf(runner->invocation->err, "skirc: --expect '%s': %s\n", named.text, error);
    else if (compare)
        print_match(runner, named, &found, &expected, &match);
    tensor_free(&found);
    tensor_free(&expected);
    return ok && match.different == 0;
}

enum exit_status run_answers_check(const struct runner *runner, const struct storages *storages)
{
    bool ok = true;
    for (uint32_t i = 0; i < runner->expected.count; i++)
        ok = check_value(runner, storages, runner->expected.at[i], false) && ok;
    return ok ? EXIT_DONE : EXIT_INPUT;
}

bool run_answers_print(const struct runner *runner, const struct storages *storages)
{
    bool ok = true;
    for (uint32_t i = 0; i < runner->printed.count; i++)
        ok = print_value(runner, storages, runner->printed.at[i]) && ok;
    return ok;
}

enum exit_status run_answers(const struct runner *runner, const struct storages *storages)
{
    bool ok = run_answers_print(runner, storages);
    for (uint32_t i = 0; i < runner->expected.count; i++)
        ok = check_value(runner, storages, runner->expected.at[i], true) && ok;
    return ok ? EXIT_DONE : EXIT_INPUT;
}

/* ----------------------------------------------------------------------------- JSON ---- */

static void put_number(struct json *json, const char *key, double number)
{
    if (!isfinite(number))
        return;
    json_key(json, key);
    json_double(json, number);
}

static void put_name(struct json *json, const struct runner *runner, struct named_value named)
{
    struct text name = {NULL, 0, 0};
    print_name(runner, named, &name);
    json_add_bytes(json, "name", name.at, name.size);
    text_free(&name);
}

/* The least or greatest number: whole ones are digits, in a string where readers of JSON would take
 * them for doubles that they are not. */
static void put_extreme(struct json *json, const char *key, const struct tensor *tensor,
                        long double number)
{
    static const long double most_exact = 9007199254740992; /* 2^53 */
    char digits[32];
    struct float_format format;
    if (dtype_float_format(tensor->dtype, &format)) {
        put_number(json, key, (double)number);
    } else if (fabsl(number) <= most_exact) {
        json_key(json, key);
        json_signed(json, (int64_t)number);
    } else {
        snprintf(digits, sizeof digits, "%.0Lf", number);
        json_add_string(json, key, digits);
    }
}

static void put_summary(struct json *json, const struct tensor *tensor)
{
    struct summary summary;
    bool is_complex = dtype_info(tensor->dtype)->class == CLASS_COMPLEX;
    json_add_unsigned(json, "elements", tensor->size / (dtype_info(tensor->dtype)->bits / 8));
    if (!tensor_summarise(tensor, &summary))
        return;
    if (summary.count && !is_complex) {
        put_extreme(json, "min", tensor, summary.low);
        put_extreme(json, "max", tensor, summary.high);
        put_number(json, "mean", summary.sum[0] / (double)summary.count);
    }
    json_add_unsigned(json, "nan", summary.nans);
    json_add_unsigned(json, "inf", summary.infinities);
}

static void put_value(struct json *json, const struct runner *runner,
                      const struct storages *storages, struct named_value named)
{
    struct tensor tensor;
    struct text type = {NULL, 0, 0};
    char error[512];
    if (!storage_take(&storages->at[named.graph], named.value, &tensor, error, sizeof error))
        return;
    put_type(runner, named, &type);
    json_line(json);
    json_open_object(json);
    put_name(json, runner, named);
    json_add_bytes(json, "type", type.at, type.size);
    put_summary(json, &tensor);
    json_close_object(json);
    text_free(&type);
    tensor_free(&tensor);
}

static void put_match(struct json *json, const struct tensor *found, const struct match *match)
{
    json_add_unsigned(json, "elements", match->elements);
    json_add_unsigned(json, "different", match->different);
    if (match->different) {
        json_key(json, "first");
        int64_t at[TENSOR_MAX_RANK];
        tensor_index(found, match->first, at);
        json_open_array(json);
        for (uint32_t i = 0; i < found->rank; i++)
            json_unsigned(json, (uint64_t)at[i]);
        json_close_array(json);
    }
    put_number(json, "largest_error", match->largest_absolute);
    put_number(json, "largest_relative_error", match->largest_relative);
}

static void put_expected(struct json *json, const struct runner *runner,
                         const struct storages *storages, struct named_value named)
{
    struct tensor found = {.data = NULL}, expected = {.data = NULL};
    struct match match = {.different = 1};
    char error[512];
    bool known =
        storage_take(&storages->at[named.graph], named.value, &found, error, sizeof error) &&
        tensor_expect(&expected, &found, named.text, runner->seed + named.value, error,
                      sizeof error) &&
        tensor_match(&found, &expected, &runner->tolerance, &match, error, sizeof error);
    json_line(json);
    json_open_object(json);
    put_name(json, runner, named);
    json_add_string(json, "spec", named.text);
    json_key(json, "holds");
    json_bool(json, known && match.different == 0);
    if (known)
        put_match(json, &found, &match);
    json_close_object(json);
    tensor_free(&found);
    tensor_free(&expected);
}

void run_answers_json(const struct runner *runner, const struct storages *storages,
                      struct json *json)
{
    json_line(json);
    json_key(json, "values");
    json_open_array(json);
    for (uint32_t i = 0; i < runner->printed.count; i++)
        put_value(json, runner, storages, runner->printed.at[i]);
    json_close_array(json);
    json_line(json);
    json_key(json, "expected");
    json_open_array(json);
    for (uint32_t i = 0; i < runner->expected.count; i++)
        put_expected(json, runner, storages, runner->expected.at[i]);
    json_close_array(json);
}
