/* skirc run: a graph on this machine. */
#include "frontend/cli/child_process.h"
#include "frontend/cli/output.h"
#include "frontend/cli/shared_options.h"
#include "frontend/commands/cmd.h"
#include "frontend/commands/given_shapes.h"
#include "frontend/commands/lowered_input.h"
#include "frontend/commands/run_answers.h"
#include "frontend/commands/run_measure.h"
#include "frontend/commands/run_other.h"
#include "frontend/commands/run_report.h"
#include "frontend/commands/run_setup.h"
#include "frontend/commands/run_values.h"
#include "ir/base/file.h"
#include "ir/base/memory.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

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
    {"rtol", 0, OPTION_VALUE, "X",
     "what is expected, or in another file, may differ by X times its magnitude"},
    {"atol", 0, OPTION_VALUE, "X", "and by X"},
    {"compare", 0, OPTION_VALUE, "unfused",
     "run every op as a launch of its own too, and compare all values bit for bit; or FILE.skir: "
     "run that too, and compare results; or NAME=VALUE[:...]: the same with other options of "
     "scopes"},
    {"repeat", 0, OPTION_VALUE, "N",
     "measured runs behind the first one, or auto: till 0.2 s were measured, 100 at most. Default: "
     "auto; 0 with --race-check, --trace and --unproven"},
    {"seed", 0, OPTION_VALUE, "N", "seed of random inputs (1)"},
    {"unproven", 0, OPTION_FLAG, NULL,
     "run entries even if their synchronisation is refuted, and launches that can hang, to see "
     "what happens"},
    {"trust-kernels", 0, OPTION_FLAG, NULL,
     "do not look whether kernels write all of their results, and nothing beside them"},
    {"check-kernels", 0, OPTION_FLAG, NULL,
     "run all ops one by one, too, and look whether kernels write values of others, or compute "
     "with what nobody has written"},
    {"race-check", 0, OPTION_FLAG, NULL,
     "follow what each core knows, and report order between ops that is not enforced"},
    {"serial", 0, OPTION_FLAG, NULL,
     "run launches one after another, in the order of the text, also those of different streams"},
    {"full-barriers", 0, OPTION_FLAG, NULL,
     "full barriers of kernels count all cores of a launch, as on the NPU"},
    {"json", 0, OPTION_OPTIONAL, "FILE.json",
     "write times, comparison and records; without a file on standard output, in the place of what "
     "is printed"},
    {"profile", 0, OPTION_VALUE, "FILE.json",
     "record when each core runs what, as profiling=1 for every scope, and write it to a file for "
     "trace viewers"},
    {"trace", 0, OPTION_VALUE, "FILE",
     "record where each core stands, as debug-op-exec-trace=1 for every scope, and write it to a "
     "file for 'skirc trace', however launches end"},
    {"in-process", 0, OPTION_FLAG, NULL,
     "run kernels in the process that was called, for debuggers, not in one of their own"},
    {"threads", 0, OPTION_VALUE, "N", "host threads (as many as there are processors)"},
    {"timeout", 0, OPTION_VALUE, "SECONDS", "end a launch that takes longer (60); 0: never"},
    {"max-iterations", 0, OPTION_VALUE, "N",
     "end a While that calls its body more often (1000000); 0: never"},
    BIND_OPTION,
    SHAPE_OPTION,
    STRICT_GEARS_OPTION,
    SESSION_OPTIONS,
    PASS_PLUGIN_OPTION,
    {0},
};

static void begin(struct runner *runner)
{
    runner->module = runner->lowered.input.module;
    runner->diags = &runner->lowered.input.diags;
}

static bool is_compared(const struct runner *runner)
{
    return runner->compare == COMPARE_FILE || runner->compare == COMPARE_OPTIONS;
}

static enum exit_status open_runner(struct runner *runner, const char *path, const char *sk_options)
{
    const struct session_options options = {.target = runner->target,
                                            .sk_options = sk_options,
                                            .compare_options = runner->compare_options,
                                            .unproven =
                                                option_given(runner->invocation, "unproven"),
                                            .graph = option_value(runner->invocation, "graph")};
    enum exit_status status;
    if (lowered_input_open(&runner->lowered, runner->invocation, path, &options, &status))
        begin(runner);
    return status;
}

/* The command line names none, or leaves several combinations of gears, which is reported. */
static enum exit_status no_graph(const struct runner *runner)
{
    return runner->diags->counts[SEVERITY_ERROR] ? EXIT_INPUT : EXIT_USAGE;
}

static enum exit_status check_file(struct runner *runner, const char *path)
{
    char error[512];
    if (!path || file_can_write(path, error, sizeof error))
        return EXIT_DONE;
    diag_at(runner->diags, DIAG_file, no_span, "%s", error);
    return EXIT_INPUT;
}

/* Whether the files can be written that are to be behind the run: EXIT_INPUT, reported, if not. */
static enum exit_status check_files(struct runner *runner, struct runner *other)
{
    enum exit_status status =
        worse_status(check_file(runner, runner->profile), check_file(runner, runner->trace));
    if (!run_json_is_printed(runner->invocation) &&
        check_file(runner, option_value(runner->invocation, "json")) != EXIT_DONE) {
        runner->json_written = true; /* nobody tries */
        child_answered();
        status = EXIT_INPUT;
    }
    if (check_file(runner, option_value(runner->invocation, "remarks")) != EXIT_DONE) {
        runner->lowered.input.keeps_remarks = true;
        if (other)
            other->lowered.input.keeps_remarks = true;
        status = EXIT_INPUT;
    }
    for (uint32_t i = 0; i < runner->outputs.count; i++) {
        run_values_release_input(runner, runner->outputs.at[i].text);
        status = worse_status(status, check_file(runner, runner->outputs.at[i].text));
    }
    return status;
}

static enum exit_status run_lowered(struct runner *runner, struct runner *other)
{
    runner->graph = run_graph_choose(runner);
    if (!runner->graph)
        return no_graph(runner);
    if (!run_values_name(runner) || !run_answers_name(runner))
        return EXIT_USAGE;
    if (!run_without_stubs(runner->module, runner->graph, runner->diags) ||
        check_files(runner, other) != EXIT_DONE)
        return EXIT_INPUT;
    if (other && !(other->graph = run_graph_choose_other(other, runner)))
        return no_graph(other);
    if (other && !run_without_stubs(other->module, other->graph, other->diags))
        return EXIT_INPUT;
    if (other)
        run_other_name(other, runner);
    return run_measure(runner, other);
}

/* With the graph that it is compared with. */
static enum exit_status run_both(struct runner *runner)
{
    struct runner other = *runner;
    struct text options = {NULL, 0, 0};
    const char *record = run_options_record(runner);
    bool is_file = runner->compare == COMPARE_FILE;
    bool has_options = runner->compare == COMPARE_OPTIONS;
    text_printf(&options, "%s%s%s", has_options ? runner->compared : "",
                record && has_options ? ":" : "", record ? record : "");
    text_char(&options, '\0');
    other.name = runner->compared;
    other.compare_options = has_options ? runner->compared : NULL;
    enum exit_status status =
        open_runner(&other, is_file ? runner->compared : runner->invocation->files[0],
                    options.size > 1 ? options.at : NULL);
    if (status == EXIT_DONE)
        status = run_lowered(runner, &other);
    status = run_json_refused(runner, &other, status);
    run_values_free(&other);
    status = lowered_input_close(&other.lowered, status);
    text_free(&options);
    return status;
}

/* What kernels print has no place in JSON: for that, standard output stays open under another
 * number where this process is to write it. NULL: there is none to keep. */
static FILE *keep_output(const struct invocation *invocation)
{
    fflush(invocation->out);
    bool replaced = fileno(invocation->out) == STDOUT_FILENO && fileno(invocation->err) >= 0;
    int kept = replaced ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : -1;
    FILE *out = kept >= 0 ? fdopen(kept, "w") : NULL;
    if (out)
        dup2(fileno(invocation->err), STDOUT_FILENO);
    else if (kept >= 0)
        close(kept);
    return out;
}

/* Both are flushed: kernels may share the stream of this program. */
static enum exit_status give_output_back(const struct invocation *invocation, FILE *kept,
                                         enum exit_status status)
{
    if (!kept)
        return status;
    fflush(invocation->out);
    dup2(fileno(kept), STDOUT_FILENO);
    status = output_end(kept, invocation->err, status);
    fclose(kept);
    return status;
}

static enum exit_status run_here(struct invocation *invocation)
{
    FILE *out = invocation->out, *kept = NULL;
    struct runner runner = {.invocation = invocation,
                            .out = invocation->out,
                            .name = invocation->files[0],
                            .seed = 1,
                            .timeout = 60,
                            .max_iterations = 1000000};
    if (!run_options_read(&runner))
        return EXIT_USAGE;
    if (run_json_is_printed(invocation)) {
        kept = keep_output(invocation);
        runner.out = kept ? kept : out;
        invocation->out = invocation->err;
    }
    enum exit_status status =
        open_runner(&runner, invocation->files[0], run_options_record(&runner));
    if (status == EXIT_DONE)
        status = is_compared(&runner) ? run_both(&runner) : run_lowered(&runner, NULL);
    status = run_json_refused(&runner, NULL, status);
    run_values_free(&runner);
    run_answers_free(&runner);
    status = lowered_input_close(&runner.lowered, status);
    invocation->out = out;
    return give_output_back(invocation, kept, status);
}

/* Kernels may crash, end their process, or not return. */
enum exit_status cmd_run(struct invocation *invocation)
{
    struct child_end end;
    if (option_given(invocation, "in-process"))
        return run_here(invocation);
    enum exit_status status = child_run(invocation, run_here, &end);
    struct runner runner = {.invocation = invocation,
                            .out = invocation->out,
                            .name = invocation->files[0],
                            .json_written = end.answered};
    if (status != EXIT_USAGE && (runner.target = target_option(invocation)))
        status = run_json_ended(&runner, end.text, status);
    return status;
}
