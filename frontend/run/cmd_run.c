/* skirc run: a graph on this machine, measured, checked and compared. */
#include "frontend/driver/child_process.h"
#include "frontend/driver/cmd.h"
#include "frontend/driver/graph_arguments.h"
#include "frontend/driver/lowered_input.h"
#include "frontend/driver/module_io.h"
#include "frontend/driver/shared_options.h"
#include "frontend/run/run_answers.h"
#include "frontend/run/run_checks.h"
#include "frontend/run/run_launch.h"
#include "frontend/run/run_operands.h"
#include "frontend/run/run_report.h"
#include "frontend/run/run_setup.h"
#include "frontend/run/run_values.h"
#include "frontend/run/runner.h"
#include "ir/support/file.h"
#include "ir/support/memory.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------- repeated runs ---- */

/* How often is enough: until so many seconds were measured, with at least as many runs as it takes
 * to compare, but not for longer than that altogether. */
static const double enough_seconds = 0.2, most_seconds = 5;
enum { LEAST_RUNS = 9, MOST_RUNS = 100 };

static bool is_enough(const struct outcomes *outcomes, double begin)
{
    uint64_t repeat = outcomes->at[0].runner->repeat;
    uint32_t done = outcomes->at[0].samples.count;
    double seconds = 0;
    if (repeat != REPEAT_AUTO)
        return done >= repeat;
    for (unsigned i = 0; i < outcomes->count; i++)
        for (uint32_t n = 0; n < outcomes->at[i].samples.count; n++)
            seconds += outcomes->at[i].samples.at[n];
    return done >= MOST_RUNS || run_clock() - begin > most_seconds ||
           (done >= LEAST_RUNS && seconds >= enough_seconds);
}

/* A further run, with the inputs of the first one; notes whether it leaves the same. */
static enum exit_status run_again(struct outcomes *outcomes, struct outcome *outcome)
{
    char label[200];
    run_values_restore(outcome->workplace);
    run_check_again(outcome);
    enum exit_status status = run_launch(outcome, &outcome->workplace->storages);
    outcome->runs++;
    if (status != EXIT_DONE)
        return status;
    snprintf(label, sizeof label, "in run %u of %s:", outcome->runs, outcome->name);
    outcomes->repeatable = storage_compare(storages_main(&outcome->storages),
                                           storages_main(&outcome->workplace->storages), label,
                                           &outcomes->differences);
    return EXIT_DONE;
}

/* Runs all ways in turn, as often as wanted; the first runs began at a time of run_clock().
 * Measured is what the launches take. What comes first in a round is decided by a fair coin: so, if
 * two ways do not differ, each of them is the longer one in half of all pairs, whatever else the
 * machine does. */
static enum exit_status run_repeat(struct outcomes *outcomes, double begin)
{
    enum exit_status status = EXIT_DONE;
    uint64_t coin = 1;
    while (status == EXIT_DONE && outcomes->repeatable && !is_enough(outcomes, begin)) {
        coin = coin * 6364136223846793005u + 1442695040888963407u;
        bool backwards = coin >> 63;
        for (unsigned i = 0; status == EXIT_DONE && outcomes->repeatable && i < outcomes->count;
             i++) {
            struct outcome *outcome = &outcomes->at[backwards ? outcomes->count - 1 - i : i];
            status = run_again(outcomes, outcome);
            if (status == EXIT_DONE)
                vec_push(&outcome->samples, outcome->last.seconds);
        }
    }
    /* Times of a round that was not finished have no partner. */
    uint32_t rounds = UINT32_MAX;
    for (unsigned i = 0; i < outcomes->count; i++)
        if (outcomes->at[i].samples.count < rounds)
            rounds = outcomes->at[i].samples.count;
    for (unsigned i = 0; i < outcomes->count; i++)
        outcomes->at[i].samples.count = rounds;
    return status;
}

/* ------------------------------------------------------------------------ all ways ---- */

static void add_outcome(struct outcomes *outcomes, struct runner *runner, const char *name,
                        bool fused)
{
    outcomes->at[outcomes->count++] = (struct outcome){
        .runner = runner, .name = name, .fused = fused, .recorded = runner->profile};
}

/* Whether a way runs other ops than those before it: ways that run one graph have the same. */
static bool has_own_ops(const struct outcomes *outcomes, unsigned i)
{
    return i == 0 || outcomes->at[i].runner != outcomes->at[0].runner;
}

/* The run that gives the results, and that pays for what is done once: nothing is measured. Where
 * it is watched, each op's operands are looked at after it. */
static enum exit_status run_first(struct outcome *outcome)
{
    struct operand_checks *checks = outcome->watch ? outcome->watch->context : NULL;
    if (checks)
        operand_checks_begin(checks, outcome->runner, &outcome->storages);
    outcome->run->record = !outcome->workplace;
    run_check_begin(outcome);
    enum exit_status status = run_launch(outcome, &outcome->storages);
    outcome->runs++;
    if (status == EXIT_DONE) {
        outcome->first = outcome->last.seconds;
        run_values_keep(outcome);
        status = run_check_end(outcome);
    }
    bool found = checks && checks->found;
    if (checks)
        operand_checks_free(checks); /* further runs are not looked at */
    if (status != EXIT_DONE || !found)
        return status;
    run_answers_print(outcome->runner, &outcome->storages);
    return EXIT_INPUT;
}

/* The first run of each way, the comparison of what they leave, and the measured runs. */
static enum exit_status run_all(struct outcomes *outcomes)
{
    const struct outcome *first = &outcomes->at[0], *second = &outcomes->at[1];
    double begin = run_clock();
    enum exit_status status = EXIT_DONE;
    for (unsigned i = 0; status == EXIT_DONE && i < outcomes->count; i++) {
        status = run_first(&outcomes->at[i]);
        if (status == EXIT_DONE && outcomes->at[i].runner->check_kernels &&
            has_own_ops(outcomes, i))
            status = run_check_ops(&outcomes->at[i]);
    }
    if (status != EXIT_DONE)
        return status;
    outcomes->compared = outcomes->count > 1;
    if (outcomes->compared && second->runner != first->runner)
        outcomes->verdict = run_other_compare(first, second, &outcomes->differences);
    else if (outcomes->compared &&
             !storage_compare(storages_main(&first->storages), storages_main(&second->storages),
                              second->name, &outcomes->differences))
        outcomes->verdict = VERDICT_DIFFERENT;
    if (outcomes->verdict != VERDICT_DIFFERENT)
        status = run_repeat(outcomes, begin);
    if (!outcomes->repeatable && !first->runner->trust_kernels)
        run_check_ops(first);
    /* One more run of each way whose records are wanted: records take time. Where nothing is
     * repeated, those of the first run are there. */
    for (unsigned i = 0; status == EXIT_DONE && outcomes->repeatable && i < outcomes->count; i++) {
        struct outcome *outcome = &outcomes->at[i];
        outcome->run->record = true;
        if (outcome->workplace && outcome->recorded)
            status = run_again(outcomes, outcome);
    }
    return status;
}

static enum exit_status run_and_report(struct outcomes *outcomes)
{
    struct outcome *first = &outcomes->at[0];
    bool changing;
    enum exit_status status = run_values_make(outcomes);
    if (status == EXIT_DONE) {
        for (unsigned i = 0; i < outcomes->count && !first->runner->trust_kernels; i++)
            if (has_own_ops(outcomes, i))
                status =
                    worse_status(status, run_operands_check(&outcomes->at[i], false, &changing));
        status = worse_status(status, run_answers_check(first->runner, &first->storages));
    }
    for (unsigned i = 0; status == EXIT_DONE && i < outcomes->count; i++)
        status = run_open(&outcomes->at[i], i ? first : NULL);
    if (status == EXIT_DONE)
        status = run_all(outcomes);
    if (status != EXIT_DONE)
        return status;
    /* Destructors of kernels run before results are written: what does not end well leaves none. */
    for (unsigned i = 0; i < outcomes->count; i++)
        outcomes->at[i].runner->how->unload(outcomes->at[i].run);
    enum exit_status written = worse_status(run_report_trace(first), run_report_profile(first));
    run_profile_print(outcomes);
    run_report_summary(outcomes);
    status = worse_status(written, run_answers(first->runner, &first->storages));
    if (written != EXIT_DONE || outcomes->verdict == VERDICT_DIFFERENT || !outcomes->repeatable)
        return worse_status(status, EXIT_INPUT);
    return worse_status(status, run_values_write(first->runner, storages_main(&first->storages)));
}

/* ------------------------------------------------------------------------- command ---- */

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
    {"seed", 0, OPTION_NUMBER(0, UINT64_MAX), "N", "seed of random inputs (1)"},
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
    {"threads", 0, OPTION_NUMBER(0, 1024), "N", "host threads (as many as there are processors)"},
    {"timeout", 0, OPTION_NUMBER(0, 1000000), "SECONDS",
     "end a launch that takes longer (60); 0: never"},
    {"max-iterations", 0, OPTION_NUMBER(0, UINT64_MAX), "N",
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
    struct outcomes outcomes = {.repeatable = true};
    struct operand_checks checks = {.runner = NULL};
    const struct run_watch watch = {operand_checks_op_ended, &checks, NULL};
    add_outcome(&outcomes, runner, other ? runner->name : "fused", true);
    if (other)
        add_outcome(&outcomes, other, other->name, true);
    else if (runner->compare)
        add_outcome(&outcomes, runner, "unfused", false);
    if (!other && runner->compare && !runner->trust_kernels)
        outcomes.at[1].watch = &watch;
    enum exit_status status = run_json_write(&outcomes, run_and_report(&outcomes));
    for (unsigned i = outcomes.count; i-- > 0;) {
        run_close(&outcomes.at[i]);
        run_check_free(&outcomes.at[i]);
        vec_free(&outcomes.at[i].samples);
    }
    operand_checks_free(&checks);
    run_values_release(&outcomes);
    text_free(&outcomes.differences);
    return status;
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
    status = run_json_refused(runner, &other, "", status);
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
    struct runner runner = {
        .invocation = invocation, .out = invocation->out, .name = invocation->files[0]};
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
        status = (runner.compare == COMPARE_FILE || runner.compare == COMPARE_OPTIONS)
                     ? run_both(&runner)
                     : run_lowered(&runner, NULL);
    status = run_json_refused(&runner, NULL, "", status);
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
        status = run_json_refused(&runner, NULL, end.text, status);
    return status;
}
