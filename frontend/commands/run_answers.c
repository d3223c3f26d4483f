#include "frontend/commands/run_answers.h"
#include "frontend/tensor/tensor_print.h"
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

bool run_answers_name(struct runner *runner)
{
    const struct invocation *invocation = runner->invocation;
    bool given = false;
    if (!read_tolerance(invocation, "rtol", &runner->tolerance.relative, &given) ||
        !read_tolerance(invocation, "atol", &runner->tolerance.absolute, &given))
        return false;
    runner->tolerance.exact = !given;
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
    const struct graph *graph = &runner->module->graphs.at[named.graph];
    if (!take(runner, storages, named, "print", &tensor))
        return false;
    print_name(runner, named, &text);
    text_string(&text, ": ");
    spell_type(&text, runner->module, graph->values.at[named.value].type);
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

/* Whether the value is as expected; says so, or why there is no answer. */
static bool check_value(const struct runner *runner, const struct storages *storages,
                        struct named_value named)
{
    struct tensor found, expected;
    struct match match = {.different = 1};
    char error[512];
    if (!take(runner, storages, named, "expect", &found))
        return false;
    bool ok = tensor_expect(&expected, &found, named.text, runner->seed + named.value, error,
                            sizeof error);
    if (ok) {
        ok = tensor_match(&found, &expected, &runner->tolerance, &match, error, sizeof error);
        if (ok)
            print_match(runner, named, &found, &expected, &match);
        tensor_free(&expected);
    }
    if (!ok)
        fprintf(runner->invocation->err, "skirc: --expect '%s': %s\n", named.text, error);
    tensor_free(&found);
    return ok && match.different == 0;
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
        ok = check_value(runner, storages, runner->expected.at[i]) && ok;
    return ok ? EXIT_DONE : EXIT_INPUT;
}
