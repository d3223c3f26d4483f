#include "frontend/commands/run_repeat.h"
#include "frontend/commands/run_check.h"
#include "frontend/commands/run_values.h"

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

enum exit_status run_repeat(struct outcomes *outcomes, double begin)
{
    enum exit_status status = EXIT_DONE;
    uint64_t coin = 1;
    while (status == EXIT_DONE && outcomes->repeatable && !is_enough(outcomes, begin))
        status = run_round(outcomes, toss(&coin));
    drop_unpaired(outcomes);
    return status;
}

enum exit_status run_recorded(struct outcomes *outcomes)
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
