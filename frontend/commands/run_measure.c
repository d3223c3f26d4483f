#include "frontend/commands/run_measure.h"
#include "frontend/cli/crash.h"
#include "frontend/commands/run_report.h"
#include "frontend/commands/run_values.h"

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
    /* What is written stands before reports, which may end the process. */
    status = fused ? run_report_trace(runner, &result) : EXIT_DONE;
    status = worse_status(status, run_report_end(runner, &result));
    if (result.profile)
        status = worse_status(status, run_report_profile(runner, result.profile));
    runner->how->close(run);
    return status;
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
    run_report_summary(runner, fused, unfused, equal);
    return equal ? EXIT_DONE : EXIT_INPUT;
}

enum exit_status run_measure(struct runner *runner)
{
    struct outcome fused = {.seconds = 0}, unfused = {.seconds = 0};
    enum exit_status status = run_values_make(runner, &fused, &unfused);
    if (status == EXIT_DONE)
        status = execute(runner, true, &fused);
    if (status == EXIT_DONE && runner->compare)
        status = run_unfused(runner, &fused, &unfused);
    else if (status == EXIT_DONE)
        run_report_summary(runner, &fused, NULL, false);
    if (status == EXIT_DONE)
        status = run_values_write(runner, storages_main(&fused.storages));
    storages_free(&fused.storages);
    storages_free(&unfused.storages);
    return status;
}
