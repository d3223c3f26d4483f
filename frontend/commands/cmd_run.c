/* skirc run: a graph on this machine. */
#include "backend/run.h"
#include "frontend/cli/bind_argument.h"
#include "frontend/cli/crash.h"
#include "frontend/cli/output.h"
#include "frontend/cli/sk_argument.h"
#include "frontend/cli/target.h"
#include "frontend/commands/cmd.h"
#include "frontend/commands/lowered_input.h"
#include "frontend/commands/named_values.h"
#include "frontend/commands/run_stubs.h"
#include "frontend/exchange/writers/trace_events.h"
#include "frontend/tensor/storages.h"
#include "ir/base/suggest.h"
#include "ir/calls.h"
#include "ir/contents.h"

#include <string.h>
#include <unistd.h>

const struct option options_run[] = {
    {"target", 0, OPTION_VALUE, "TARGET", backend_runner_help},
    {"graph", 0, OPTION_VALUE, "NAME",
     "the graph to run, where the file has several that no other calls"},
    {"input", 'i', OPTION_MANY, "NAME=SPEC",
     "contents of a parameter, or of a constant or variable of the graph"},
    {"output", 'o', OPTION_MANY, "NAME=FILE.npy", "write a value of the graph to a file"},
    {"compare", 0, OPTION_VALUE, "unfused",
     "run every op as a launch of its own too, and compare all values bit for bit"},
    {"seed", 0, OPTION_VALUE, "N", "seed of random inputs (1)"},
    {"unproven", 0, OPTION_FLAG, NULL,
     "run entries even if their synchronisation is refuted, and launches that can hang, to see "
     "what happens"},
    {"race-check", 0, OPTION_FLAG, NULL,
     "follow what each core knows, and report order between ops that is not enforced"},
    {"serial", 0, OPTION_FLAG, NULL,
     "run launches one after another, in the order of the text, also those of different streams"},
    {"full-barriers", 0, OPTION_FLAG, NULL,
     "full barriers of kernels count all cores of a launch, as on the NPU"},
    {"profile", 0, OPTION_VALUE, "FILE.json",
     "record when each core runs what, as profiling=1 for every scope, and write it to a file for "
     "trace viewers"},
    {"trace", 0, OPTION_VALUE, "FILE",
     "record where each core stands, as debug-op-exec-trace=1 for every scope, and write it to a "
     "file for 'skirc trace', however the run ends"},
    {"threads", 0, OPTION_VALUE, "N", "host threads (as many as there are processors)"},
    {"timeout", 0, OPTION_VALUE, "SECONDS", "end a launch that takes longer (60); 0: never"},
    {"max-iterations", 0, OPTION_VALUE, "N",
     "end a While that calls its body more often (1000000); 0: never"},
    BIND_OPTION,
    {"kernel-dir", 0, OPTION_VALUE, "DIR", "where the sample kernels are"},
    {"sk-options", 0, OPTION_VALUE, "TEXT", "options of every scope, over what the file says"},
    {0},
};

struct runner {
    struct invocation *invocation;
    const struct backend *target;
    struct lowered_input lowered;
    const struct module *module;
    const struct graph *graph;
    struct diags *diags;
    const struct backend_runner *how;
    uint64_t seed, threads, timeout, max_iterations;
    bool compare, race_check, full_barriers, serial;
    const char *profile, *trace; /* files, or NULL */
    struct named_values inputs, outputs;
};

/* One way of running the graph, and what came of it. */
struct outcome {
    struct storages storages;
    double seconds;
    uint32_t launches;
    uint32_t orders; /* that the race check held it against */
};

/* -------------------------------------------------------------------- what to run ---- */

/* The only graph that no other calls, or NULL. */
static const struct graph *uncalled_graph(const struct module *module)
{
    const struct graph *found = NULL;
    uint8_t *called = mem_calloc(module->graphs.count, 1);
    unsigned count = 0;
    for (uint32_t i = 0; i < module->graphs.count; i++)
        graph_mark_called(module, &module->graphs.at[i], called);
    for (uint32_t i = 0; i < module->graphs.count; i++)
        if (!called[i]) {
            found = &module->graphs.at[i];
            count++;
        }
    mem_free(called);
    return count == 1 ? found : NULL;
}

static const struct graph *choose_graph(struct runner *runner)
{
    const struct module *module = runner->module;
    const char *name = option_value(runner->invocation, "graph");
    struct suggest suggest = {.wanted = name, .wanted_size = name ? strlen(name) : 0};
    for (uint32_t i = 0; name && i < module->graphs.count; i++) {
        const struct graph *graph = &module->graphs.at[i];
        if (name_is(module, graph->name, name))
            return graph;
        name_offer(&suggest, module, graph->name);
    }
    const struct graph *only = name ? NULL : uncalled_graph(module);
    if (only)
        return only;
    if (name)
        usage_error(runner->invocation, "there is no graph '%s'%s", name,
                    suggest_end(&suggest).text);
    else
        usage_error(runner->invocation,
                    module->graphs.count
                        ? "the file has several graphs that no other calls; choose one by --graph"
                        : "the file has no graph to run");
    return NULL;
}

/* ----------------------------------------------------------------------- contents ---- */

static enum exit_status report_contents(const struct runner *runner, const struct graph *graph,
                                        const char *what, uint32_t id, const char *error)
{
    fprintf(runner->invocation->err, "skirc: %s '%.*s': %s\n", what,
            NAME(runner->module, graph->values.at[id].name), error);
    return EXIT_INPUT;
}

/* What --input and --output name. False, with a usage error, where that is nothing. */
static bool name_contents(struct runner *runner)
{
    return named_values_parse(&runner->inputs, runner->invocation, "input", runner->module,
                              runner->graph, NAMED_PARAMETER) &&
           named_values_parse(&runner->outputs, runner->invocation, "output", runner->module,
                              runner->graph, NAMED_VALUE);
}

/* The contents that the graph itself has for a value, or NULL. */
static const struct attr *own_contents(const struct runner *runner, const struct graph *graph,
                                       uint32_t id)
{
    uint32_t def = graph->values.at[id].def;
    return def < graph->ops.count ? op_contents_attr(runner->module, graph, &graph->ops.at[def])
                                  : NULL;
}

/* Where the contents come from that a value has before the graph runs. Several values may be one
 * memory: what is said for any of them counts over what is not, so it is written later. */
enum given_by { BY_SEED, BY_GRAPH, BY_OPTION, GIVEN_END };

static bool fill_given(const struct runner *runner, struct storage *storage, uint32_t id,
                       enum given_by by, char *error, size_t error_size)
{
    bool is_main = storage->graph == runner->graph;
    const char *spec = is_main ? named_values_find(&runner->inputs, id) : NULL;
    const struct attr *attr = own_contents(runner, storage->graph, id);
    if (by != (spec ? BY_OPTION : attr ? BY_GRAPH : BY_SEED))
        return true;
    if (by != BY_GRAPH)
        return storage_fill(storage, id, spec, runner->seed + id, error, error_size);
    struct contents contents = contents_read(runner->module, attr);
    return storage_fill_contents(storage, id, &contents, runner->lowered.session.places.source_dir,
                                 error, error_size);
}

/* By --input, else by the graph's contents, else at random, each by a seed of its own. */
static enum exit_status fill_graph(const struct runner *runner, struct storage *storage)
{
    const struct graph *graph = storage->graph;
    uint32_t first = graph == runner->graph ? 0 : graph->n_params; /* which callers give */
    char error[512];
    for (int by = 0; by < GIVEN_END; by++)
        for (uint32_t i = first; i < graph->values.count; i++)
            if (value_is_given(runner->module, graph, i) &&
                !fill_given(runner, storage, i, (enum given_by)by, error, sizeof error))
                return report_contents(runner, graph, "input", i, error);
    return EXIT_DONE;
}

static enum exit_status fill_inputs(const struct runner *runner, const struct storages *storages)
{
    enum exit_status status = EXIT_DONE;
    for (uint32_t i = 0; status == EXIT_DONE && i < storages->count; i++)
        if (storages->at[i].graph)
            status = fill_graph(runner, &storages->at[i]);
    return status;
}

static enum exit_status write_outputs(const struct runner *runner, const struct storage *storage)
{
    char error[512];
    for (uint32_t i = 0; i < runner->outputs.count; i++) {
        struct named_value output = runner->outputs.at[i];
        if (!storage_write(storage, output.value, output.text, error, sizeof error))
            return report_contents(runner, runner->graph, "output", output.value, error);
    }
    return EXIT_DONE;
}

/* ---------------------------------------------------------------------- execution ---- */

/* What kernels that do not return use must not go away. */
static _Noreturn void leave(const struct invocation *invocation)
{
    fflush(invocation->out);
    fflush(invocation->err);
    _exit(EXIT_INPUT);
}

static enum exit_status report_result(const struct runner *runner, const struct run_result *result)
{
    if (result->end == RUN_DONE)
        return EXIT_DONE;
    fprintf(runner->invocation->err, "skirc: %s\n", result->cause);
    for (uint32_t i = 0; i < result->n_reports; i++)
        fputs(result->reports[i], runner->invocation->err);
    if (result->end == RUN_STUCK)
        leave(runner->invocation);
    return EXIT_INPUT;
}

static struct backend_run *open_run(struct runner *runner, bool fused, enum exit_status *status)
{
    const struct run_options options = {
        .module = runner->module,
        .graph = runner->graph,
        .places = &runner->lowered.session.places,
        .diags = runner->diags,
        .fused = fused,
        .race_check = fused && runner->race_check,
        .profile = fused && runner->profile,
        .trace = fused && runner->trace,
        .full_barriers = runner->full_barriers,
        .serial = runner->serial,
        .turns = option_given(runner->invocation, "unproven"),
        .threads = (uint32_t)runner->threads,
        .timeout_ms = runner->timeout * 1000,
        .max_iterations = runner->max_iterations,
    };
    enum backend_status built;
    struct backend_run *run = runner->how->open(&options, &built);
    *status = backend_exit_status(built);
    return run;
}

static enum exit_status write_profile(const struct runner *runner,
                                      const struct run_profile *profile)
{
    struct text text = {NULL, 0, 0};
    trace_events_write(&text, profile);
    enum exit_status status = write_output(runner->invocation, runner->profile, &text);
    text_free(&text);
    return status;
}

/* What is written stands before reports, which may end the process. */
static enum exit_status write_trace(const struct runner *runner, const struct run_result *result)
{
    struct text text = {NULL, 0, 0};
    if (!runner->trace)
        return EXIT_DONE;
    text_bytes(&text, result->trace, result->trace_size);
    enum exit_status status = write_output(runner->invocation, runner->trace, &text);
    text_free(&text);
    return status;
}

static void end_crash_reports(void *unused)
{
    (void)unused;
    crash_reports_end();
}

static void launch(const struct runner *runner, struct backend_run *run,
                   const struct outcome *outcome, struct run_result *result)
{
    struct mem_guard guard;
    crash_reports_begin();
    mem_guard(&guard, end_crash_reports, NULL);
    runner->how->execute(run, outcome->storages.values, result);
    mem_unguard(&guard);
    crash_reports_end();
}

static enum exit_status execute(struct runner *runner, bool fused, struct outcome *outcome)
{
    enum exit_status status;
    struct run_result result;
    struct backend_run *run = open_run(runner, fused, &status);
    if (!run)
        return status;
    launch(runner, run, outcome, &result);
    outcome->seconds = result.seconds;
    outcome->launches = run->launches;
    outcome->orders = run->orders;
    status = fused ? write_trace(runner, &result) : EXIT_DONE;
    status = worse_status(status, report_result(runner, &result));
    if (result.profile)
        status = worse_status(status, write_profile(runner, result.profile));
    runner->how->close(run);
    return status;
}

static const char *count_text(char *text, size_t size, uint32_t count, const char *noun)
{
    snprintf(text, size, "%u %s%s", count, noun,
             count == 1                      ? ""
             : noun[strlen(noun) - 1] == 'h' ? "es"
                                             : "s");
    return text;
}

static void print_summary(struct runner *runner, const struct outcome *fused,
                          const struct outcome *unfused, bool equal)
{
    FILE *out = runner->invocation->out;
    char ops[40], launches[40];
    const struct intern_name *name = &runner->module->names.names[runner->graph->name];
    diag_put(out, name->text, name->size);
    fprintf(out, ": %s in %s, %.3f ms", count_text(ops, sizeof ops, runner->graph->ops.count, "op"),
            count_text(launches, sizeof launches, fused->launches, "launch"), fused->seconds * 1e3);
    if (unfused)
        fprintf(out, "; unfused in %s, %.3f ms; %s",
                count_text(launches, sizeof launches, unfused->launches, "launch"),
                unfused->seconds * 1e3, equal ? "bit-exact" : "DIFFERENT");
    if (runner->race_check)
        fprintf(out, "; race-free (%s)", count_text(ops, sizeof ops, fused->orders, "order"));
    fputc('\n', out);
}

/* Runs the graph op by op, and compares all values with those of the fused run. */
static enum exit_status run_unfused(struct runner *runner, const struct outcome *fused,
                                    struct outcome *unfused)
{
    enum exit_status status = execute(runner, false, unfused);
    if (status != EXIT_DONE)
        return status;
    struct text difference = {NULL, 0, 0};
    bool equal = storage_compare(storages_main(&fused->storages), storages_main(&unfused->storages),
                                 &difference);
    if (!equal)
        fwrite(difference.at, 1, difference.size, runner->invocation->out);
    text_free(&difference);
    print_summary(runner, fused, unfused, equal);
    return equal ? EXIT_DONE : EXIT_INPUT;
}

/* Storage for a run, and for that op by op where there is one: ops may write parameters, so both
 * get the inputs before either runs. */
static enum exit_status make_storage(struct runner *runner, struct outcome *fused,
                                     struct outcome *unfused)
{
    unsigned copies = runner->compare ? 2 : 1;
    if (!storages_init(&fused->storages, runner->how, runner->module, runner->graph, copies,
                       runner->diags))
        return EXIT_INPUT;
    enum exit_status status = fill_inputs(runner, &fused->storages);
    if (status != EXIT_DONE || !runner->compare)
        return status;
    if (!storages_init(&unfused->storages, runner->how, runner->module, runner->graph, 1,
                       runner->diags))
        return EXIT_INPUT;
    storages_copy_given(&unfused->storages, &fused->storages);
    return EXIT_DONE;
}

static enum exit_status run_fused(struct runner *runner)
{
    struct outcome fused = {.seconds = 0}, unfused = {.seconds = 0};
    enum exit_status status = make_storage(runner, &fused, &unfused);
    if (status == EXIT_DONE)
        status = execute(runner, true, &fused);
    if (status == EXIT_DONE && runner->compare)
        status = run_unfused(runner, &fused, &unfused);
    else if (status == EXIT_DONE)
        print_summary(runner, &fused, NULL, false);
    if (status == EXIT_DONE)
        status = write_outputs(runner, storages_main(&fused.storages));
    storages_free(&fused.storages);
    storages_free(&unfused.storages);
    return status;
}

/* Where --target says; false, with a usage error, where graphs cannot run. */
static bool choose_target(struct runner *runner)
{
    char error[512];
    runner->target = target_option(runner->invocation);
    if (!runner->target)
        return false;
    runner->how = backend_runner(runner->target, error, sizeof error);
    if (!runner->how)
        usage_error(runner->invocation, "%s", error);
    return runner->how != NULL;
}

static bool read_options(struct runner *runner)
{
    static const char *const comparisons[] = {"unfused", NULL};
    const struct invocation *invocation = runner->invocation;
    unsigned comparison = 0;
    runner->compare = option_given(invocation, "compare");
    runner->race_check = option_given(invocation, "race-check");
    runner->full_barriers = option_given(invocation, "full-barriers");
    runner->serial = option_given(invocation, "serial");
    runner->profile = option_value(invocation, "profile");
    runner->trace = option_value(invocation, "trace");
    return choose_target(runner) &&
           option_choice(invocation, "compare", comparisons, &comparison) &&
           option_number(invocation, "seed", 0, UINT64_MAX, &runner->seed) &&
           option_number(invocation, "threads", 0, 1024, &runner->threads) &&
           option_number(invocation, "timeout", 0, 1000000, &runner->timeout) &&
           option_number(invocation, "max-iterations", 0, UINT64_MAX, &runner->max_iterations) &&
           sk_argument_check(invocation);
}

static enum exit_status run_lowered(struct runner *runner)
{
    runner->module = runner->lowered.input.module;
    runner->diags = &runner->lowered.input.diags;
    runner->graph = choose_graph(runner);
    if (!runner->graph || !name_contents(runner))
        return EXIT_USAGE;
    return run_without_stubs(runner->module, runner->graph, runner->diags) ? run_fused(runner)
                                                                           : EXIT_INPUT;
}

/* Options of scopes that make what is to be recorded. */
static const char *record_options(const struct runner *runner)
{
    if (runner->profile)
        return runner->trace ? "profiling=1:debug-op-exec-trace=1" : "profiling=1";
    return runner->trace ? "debug-op-exec-trace=1" : NULL;
}

enum exit_status cmd_run(struct invocation *invocation)
{
    struct runner runner = {
        .invocation = invocation, .seed = 1, .timeout = 60, .max_iterations = 1000000};
    if (!read_options(&runner))
        return EXIT_USAGE;
    struct session_options options = {.target = runner.target,
                                      .sk_options = record_options(&runner),
                                      .unproven = option_given(invocation, "unproven"),
                                      .graph = option_value(invocation, "graph")};
    enum exit_status status;
    if (lowered_input_open(&runner.lowered, invocation, invocation->files[0], &options, &status))
        status = run_lowered(&runner);
    named_values_free(&runner.inputs);
    named_values_free(&runner.outputs);
    return lowered_input_close(&runner.lowered, status);
}
