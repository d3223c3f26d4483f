#include "frontend/commands/run_check.h"
#include "frontend/commands/run_answers.h"
#include "frontend/commands/run_findings.h"
#include "frontend/commands/run_launch.h"
#include "frontend/commands/run_values.h"

void run_check_begin(const struct outcome *outcome)
{
    if (outcome->runner->trust_kernels)
        return;
    poison_fill(&outcome->storages, POISON_FIRST);
    if (outcome->workplace)
        poison_fill(&outcome->workplace->storages, POISON_SECOND);
}

/* ---------------------------------------------------------------------- what shows ---- */

/* Memories of graphs that were run with elements that hold the poison, the first one or both. */
static void find_unwritten(const struct outcome *outcome, const struct storages *second,
                           struct unwritten_list *list)
{
    const struct storages *first = &outcome->storages;
    for (uint32_t graph = 0; graph < first->count; graph++) {
        const struct storage *storage = &first->at[graph];
        if (!storage->graph || !outcome->run->ran[graph])
            continue;
        for (uint32_t i = 0; i < storage->graph->values.count; i++) {
            struct unwritten unwritten;
            if (poison_is_for(first, graph, i) &&
                poison_find(storage, second ? &second->at[graph] : NULL, i, &unwritten))
                vec_push(list, unwritten);
        }
    }
}

static bool is_damaged(const struct outcome *outcome)
{
    const struct storages *storages = &outcome->storages;
    struct run_damage damage;
    int64_t first;
    if (outcome->runner->how->damage(outcome->run, &damage))
        return true;
    for (uint32_t graph = 0; graph < storages->count; graph++)
        for (uint32_t i = 0;
             storages->at[graph].graph && i < storages->at[graph].graph->values.count; i++)
            if (storages->at[graph].guarded[i].at &&
                guarded_damage(&storages->at[graph].guarded[i], &first) > 0)
                return true;
    return false;
}

/* ------------------------------------------------------------------------ second runs ---- */

/* Memory for second runs, with the inputs and the second poison. */
struct second {
    struct storages own;
    struct storages *storages; /* those, or the workplace's */
};

static enum exit_status fill_second(const struct outcome *outcome, struct second *second)
{
    enum exit_status status = EXIT_DONE;
    if (outcome->workplace)
        run_values_restore(outcome->workplace);
    else
        status = run_values_fill(outcome->runner, second->storages);
    poison_fill(second->storages, POISON_SECOND);
    return status;
}

static enum exit_status make_second(const struct outcome *outcome, struct second *second)
{
    *second = (struct second){.storages = outcome->workplace ? &outcome->workplace->storages
                                                             : &second->own};
    if (!outcome->workplace && !run_values_init(outcome->runner, &second->own))
        return EXIT_INPUT;
    return fill_second(outcome, second);
}

/* Runs all ops one by one. */
static enum exit_status watch_ops(const struct outcome *outcome, const struct second *second,
                                  struct findings *findings)
{
    const struct run_watch watch = {findings_op_ended, findings};
    struct outcome single = {.runner = outcome->runner, .name = "op by op", .watch = &watch};
    enum exit_status status = run_open(&single, NULL);
    findings->run = single.run;
    if (status == EXIT_DONE)
        status = run_launch(&single, second->storages);
    run_close(&single);
    findings->run = NULL;
    return status;
}

static enum exit_status explain(struct outcome *outcome, struct second *second, bool damaged)
{
    struct findings findings = {
        .runner = outcome->runner, .first = &outcome->storages, .second = second->storages};
    enum exit_status status = run_launch(outcome, second->storages);
    if (status == EXIT_DONE)
        find_unwritten(outcome, second->storages, &findings.proven);
    if (status == EXIT_DONE && (damaged || findings.proven.count > 0)) {
        findings_begin(&findings);
        status = fill_second(outcome, second);
        if (status == EXIT_DONE)
            status = watch_ops(outcome, second, &findings);
        if (status == EXIT_DONE)
            findings_end(&findings, damaged);
        run_answers_print(outcome->runner, &outcome->storages);
        status = EXIT_INPUT;
    }
    findings_free(&findings);
    return status;
}

enum exit_status run_check_end(struct outcome *outcome)
{
    struct unwritten_list suspects = {NULL, 0, 0};
    struct second second;
    if (outcome->runner->trust_kernels)
        return EXIT_DONE;
    find_unwritten(outcome, NULL, &suspects);
    bool suspicious = suspects.count > 0;
    bool damaged = is_damaged(outcome);
    vec_free(&suspects);
    if (!suspicious && !damaged)
        return EXIT_DONE;
    enum exit_status status = make_second(outcome, &second);
    if (status == EXIT_DONE)
        status = explain(outcome, &second, damaged);
    storages_free(&second.own);
    return status;
}
