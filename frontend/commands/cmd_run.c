/* skirc run: a graph on this machine. */
#include "frontend/cli/bind_argument.h"
#include "frontend/commands/cmd.h"
#include "frontend/commands/run_answers.h"
#include "frontend/commands/run_measure.h"
#include "frontend/commands/run_options.h"
#include "frontend/commands/run_stubs.h"
#include "frontend/commands/run_values.h"
#include "ir/base/suggest.h"
#include "ir/calls.h"

#include <string.h>

const struct option options_run[] = {
    {"target", 0, OPTION_VALUE, "TARGET", backend_runner_help},
    {"graph", 0, OPTION_VALUE, "NAME",
     "the graph to run, where the file has several that no other calls"},
    {"input", 'i', OPTION_MANY, "NAME=SPEC",
     "contents of a parameter, or of a constant or variable of the graph"},
    {"output", 'o', OPTION_MANY, "NAME=FILE.npy", "write a value of the graph to a file"},
    {"print", 0, OPTION_MANY, "NAME",
     "print a value: shape, dtype, range, mean, NaN and infinities, first and last elements"},
    {"expect", 0, OPTION_MANY, "NAME=SPEC",
     "compare a value with an array, bit for bit or as --rtol and --atol say"},
    {"rtol", 0, OPTION_VALUE, "X", "what is expected may differ by X times its magnitude"},
    {"atol", 0, OPTION_VALUE, "X", "and by X"},
    {"compare", 0, OPTION_VALUE, "unfused",
     "run every op as a launch of its own too, and compare all values bit for bit"},
    {"repeat", 0, OPTION_VALUE, "N",
     "measured runs behind the first one, or auto: till 0.2 s were measured, 100 at most. Default: "
     "auto; 0 with --race-check, --trace and --unproven"},
    {"seed", 0, OPTION_VALUE, "N", "seed of random inputs (1)"},
    {"unproven", 0, OPTION_FLAG, NULL,
     "run entries even if their synchronisation is refuted, and launches that can hang, to see "
     "what happens"},
    {"trust-kernels", 0, OPTION_FLAG, NULL,
     "do not look whether kernels write all of their results, and nothing beside them"},
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
    PASS_PLUGIN_OPTION,
    {0},
};

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

static enum exit_status run_lowered(struct runner *runner)
{
    runner->module = runner->lowered.input.module;
    runner->diags = &runner->lowered.input.diags;
    runner->graph = choose_graph(runner);
    if (!runner->graph || !run_values_name(runner) || !run_answers_name(runner))
        return EXIT_USAGE;
    return run_without_stubs(runner->module, runner->graph, runner->diags) ? run_measure(runner)
                                                                           : EXIT_INPUT;
}

enum exit_status cmd_run(struct invocation *invocation)
{
    struct runner runner = {
        .invocation = invocation, .seed = 1, .timeout = 60, .max_iterations = 1000000};
    if (!run_options_read(&runner))
        return EXIT_USAGE;
    struct session_options options = {.target = runner.target,
                                      .sk_options = run_options_record(&runner),
                                      .unproven = option_given(invocation, "unproven"),
                                      .graph = option_value(invocation, "graph")};
    enum exit_status status;
    if (lowered_input_open(&runner.lowered, invocation, invocation->files[0], &options, &status))
        status = run_lowered(&runner);
    run_values_free(&runner);
    run_answers_free(&runner);
    return lowered_input_close(&runner.lowered, status);
}
