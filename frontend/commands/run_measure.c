#include "frontend/commands/run_measure.h"
#include "frontend/commands/op_checks.h"
#include "frontend/commands/run_answers.h"
#include "frontend/commands/run_check.h"
#include "frontend/commands/run_launch.h"
#include "frontend/commands/run_operands.h"
#include "frontend/commands/run_other.h"
#include "frontend/commands/run_report.h"
#include "frontend/commands/run_values.h"

/* ------------------------------------------------------------------- repeated runs ---- */

/* How often is enough: till so many seconds were measured, with at least as many runs as it takes
 * to compare, but not for longer than that altogether. */
static const double enough_seconds = 0.2, most_seconds = 5;
enum { LEAST_RUNS = 9, MOST_RUNS = 100 };

static double measured_seconds(const struct outcomes *outcomes)
{
    double seconds = 0;
    for (unsigned i = 0; i < outcomes->count; i++)
        for (uint32_t n = 0; n < outcomes->at[i].samples.count; n++)
            seconds += outcomes->at[i].samples.at[n];
    return seconds;
}

static bool is_enough(const struct outcomes *outcomes, double begin)
{
    uint64_t repeat = outcomes->at[0].runner->repeat;
    uint32_t done = outcomes->at[0].samples.count;
    if (repeat != REPEAT_AUTO)
        return done >= repeat;
    return done >= MOST_RUNS || run_clock() - begin > most_seconds ||
           (done >= LEAST_RUNS && measured_seconds(outcomes) >= enough_seconds);
}

/* Whether a further run has left the same as the first. */
static bool has_repeated(struct outcomes *outcomes, const struct outcome *outcome)
{
    char label[200];
    snprintf(label, sizeof label, "in run %u of %s:", outcome->runs, outcome->name);
    return storage_compare(storages_main(&outcome->storages),
                           storages_main(&outcome->workplace->storages), label,
                           &outcomes->differences);
}

static enum exit_status run_again(struct outcomes *outcomes, struct outcome *outcome)
{
    run_values_restore(outcome->workplace);
    run_check_again(outcome);
    enum exit_status status = run_launch(outcome, &outcome->workplace->storages);
    outcome->runs++;
    if (status == EXIT_DONE)
        outcomes->repeatable = has_repeated(outcomes, outcome);
    return status;
}

static enum exit_status run_measured(struct outcomes *outcomes, struct outcome *outcome)
{
    enum exit_status status = run_again(outcomes, outcome);
    if (status == EXIT_DONE)
        vec_push(&outcome->samples, outcome->last.seconds);
    return status;
}

/* Times of a round that was not finished have no partner. */
static void drop_unpaired(struct outcomes *outcomes)
{
    uint32_t rounds = UINT32_MAX;
    for (unsigned i = 0; i < outcomes->count; i++)
        if (outcomes->at[i].samples.count < rounds)
            rounds = outcomes->at[i].samples.count;
    for (unsigned i = 0; i < outcomes->count; i++)
        outcomes->at[i].samples.count = rounds;
}

/* One run of each way, forwards or backwards. */
static enum exit_status run_round(struct outcomes *outcomes, bool backwards)
{
    enum exit_status status = EXIT_DONE;
    for (unsigned i = 0; status == EXIT_DONE && outcomes->repeatable && i < outcomes->count; i++)
        status = run_measured(outcomes, &outcomes->at[backwards ? outcomes->count - 1 - i : i]);
    return status;
}

/* What comes first in a round is decided by a fair coin: so, if two ways do not differ, each of
 * them is the longer one in half of all pairs, whatever else the machine does. */
static bool toss(uint64_t *coin)
{
    *coin = *coin * 6364136223846793005u + 1442695040888963407u;
    return *coin >> 63;
}

/* Runs all ways in turn, as often as wanted, each time with the inputs of the first run, which
 * began at a time of run_clock(), and compares what they leave with that of the first. Measured is
 * what the launches take. */
static enum exit_status run_repeat(struct outcomes *outcomes, double begin)
{
    enum exit_status status = EXIT_DONE;
    uint64_t coin = 1;
    while (status == EXIT_DONE && outcomes->repeatable && !is_enough(outcomes, begin))
        status = run_round(outcomes, toss(&coin));
    drop_unpaired(outcomes);
    return status;
}

/* One more run of each way whose records are wanted: records take time. Where nothing is repeated,
 * those of the first run are there. */
static enum exit_status run_recorded(struct outcomes *outcomes)
{
    enum exit_status status = EXIT_DONE;
    for (unsigned i = 0; status == EXIT_DONE && outcomes->repeatable && i < outcomes->count; i++) {
        struct outcome *outcome = &outcomes->at[i];
        outcome->run->record = true;
        if (outcome->workplace && outcome->recorded)
            status = run_again(outcomes, outcome);
    }
    return status;
}

/* ------------------------------------------------------------------------ all ways ---- */

static void add_outcome(struct outcomes *outcomes, struct runner *runner, const char *name,
                        bool fused)
{
    outcomes->at[outcomes->count++] = (struct outcome){
        .runner = runner, .name = name, .fused = fused, .recorded = runner->profile};
}

static enum exit_status open_all(struct outcomes *outcomes)
{
    enum exit_status status = EXIT_DONE;
    for (unsigned i = 0; status == EXIT_DONE && i < outcomes->count; i++)
        status = run_open(&outcomes->at[i], i ? &outcomes->at[0] : NULL);
    return status;
}

/* The run that gives the results, and that pays for what is done once: nothing is measured. */
static enum exit_status run_first(struct outcome *outcome)
{
    outcome->run->record = !outcome->workplace;
    run_check_begin(outcome);
    enum exit_status status = run_launch(outcome, &outcome->storages);
    outcome->runs++;
    if (status != EXIT_DONE)
        return status;
    outcome->first = outcome->last.seconds;
    run_values_keep(outcome);
    return run_check_end(outcome);
}

/* The first run of what runs op by op, in which each op's operands are looked at. */
static enum exit_status run_first_watched(struct outcome *outcome, struct operand_checks *checks)
{
    operand_checks_begin(checks, outcome->runner, &outcome->storages);
    enum exit_status status = run_first(outcome);
    bool found = checks->found;
    operand_checks_free(checks); /* further runs are not looked at */
    if (!found || status != EXIT_DONE)
        return status;
    run_answers_print(outcome->runner, &outcome->storages);
    return EXIT_INPUT;
}

/* Ways that run one graph have the same ops. */
static enum exit_status probe(const struct outcomes *outcomes, unsigned i)
{
    const struct runner *runner = outcomes->at[i].runner;
    bool wanted = runner->check_kernels && (i == 0 || runner != outcomes->at[0].runner);
    return wanted ? run_check_ops(&outcomes->at[i]) : EXIT_DONE;
}

static enum exit_status run_firsts(struct outcomes *outcomes)
{
    enum exit_status status = EXIT_DONE;
    for (unsigned i = 0; status == EXIT_DONE && i < outcomes->count; i++) {
        struct outcome *outcome = &outcomes->at[i];
        status = outcome->watch ? run_first_watched(outcome, outcome->watch->context)
                                : run_first(outcome);
        if (status == EXIT_DONE)
            status = probe(outcomes, i);
    }
    return status;
}

static enum verdict compare_first_runs(struct outcomes *outcomes)
{
    const struct outcome *first = &outcomes->at[0], *second = &outcomes->at[1];
    if (second->runner != first->runner)
        return run_other_compare(first, second, &outcomes->differences);
    return storage_compare(storages_main(&first->storages), storages_main(&second->storages),
                           second->name, &outcomes->differences)
               ? VERDICT_EXACT
               : VERDICT_DIFFERENT;
}

static enum exit_status run_all(struct outcomes *outcomes)
{
    double begin = run_clock();
    enum exit_status status = run_firsts(outcomes);
    if (status != EXIT_DONE)
        return status;
    outcomes->compared = outcomes->count > 1;
    if (outcomes->compared)
        outcomes->verdict = compare_first_runs(outcomes);
    if (outcomes->verdict != VERDICT_DIFFERENT)
        status = run_repeat(outcomes, begin);
    if (!outcomes->repeatable && !outcomes->at[0].runner->trust_kernels)
        run_check_ops(&outcomes->at[0]);
    return status == EXIT_DONE ? run_recorded(outcomes) : status;
}

/* Where outcomes differ in what they run, they have other operands. */
static enum exit_status check_operands(const struct outcomes *outcomes)
{
    enum exit_status status = EXIT_DONE;
    for (unsigned i = 0; i < outcomes->count && !outcomes->at[0].runner->trust_kernels; i++)
        if (i == 0 || outcomes->at[i].runner != outcomes->at[0].runner)
            status = worse_status(status, run_operands_check_given(&outcomes->at[i]));
    return status;
}

/* Destructors of kernels run before results are written: what does not end well leaves none. */
static void unload(const struct outcomes *outcomes)
{
    for (unsigned i = 0; i < outcomes->count; i++)
        outcomes->at[i].runner->how->unload(outcomes->at[i].run);
}

static enum exit_status run_and_report(struct outcomes *outcomes)
{
    struct outcome *first = &outcomes->at[0];
    enum exit_status status = run_values_make(outcomes);
    if (status == EXIT_DONE)
        status = worse_status(check_operands(outcomes),
                              run_answers_check(first->runner, &first->storages));
    if (status == EXIT_DONE)
        status = open_all(outcomes);
    if (status == EXIT_DONE)
        status = run_all(outcomes);
    if (status != EXIT_DONE)
        return status;
    unload(outcomes);
    enum exit_status written = worse_status(run_report_trace(first), run_report_profile(first));
    run_profile_print(outcomes);
    run_report_summary(outcomes);
    status = worse_status(written, run_answers(first->runner, &first->storages));
    if (written != EXIT_DONE || outcomes->verdict == VERDICT_DIFFERENT || !outcomes->repeatable)
        return worse_status(status, EXIT_INPUT);
    return worse_status(status, run_values_write(first->runner, storages_main(&first->storages)));
}

enum exit_status run_measure(struct runner *runner, struct runner *other)
{
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
