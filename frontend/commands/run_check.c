#include "frontend/commands/run_check.h"
#include "frontend/commands/run_answers.h"
#include "frontend/commands/run_findings.h"
#include "frontend/commands/run_launch.h"
#include "frontend/commands/run_operands.h"
#include "frontend/commands/run_probe.h"
#include "frontend/commands/run_values.h"
#include "ir/syntax/locate.h"

void run_check_begin(struct outcome *outcome)
{
    if (outcome->runner->trust_kernels)
        return;
    read_only_init(&outcome->read_only, storages_main(&outcome->storages));
    poison_fill(&outcome->storages, POISON_FIRST);
}

void run_check_again(const struct outcome *outcome)
{
    static const enum poison of_runs[] = {POISON_HIGH, POISON_LOW, POISON_ZERO, POISON_NEAR};
    const struct storages *storages = &outcome->workplace->storages;
    const size_t stack_bytes = 16 * 1024; /* what takes no time */
    unsigned run = outcome->runs - 1;
    if (outcome->runner->trust_kernels)
        return;
    if (run >= sizeof of_runs / sizeof *of_runs) {
        poison_fill(storages, POISON_ZERO);
        return;
    }
    poison_fill_beside(storages, of_runs[run]);
    outcome->runner->how->spoil(outcome->run, poison_byte(of_runs[run], DTYPE_f32), stack_bytes);
}

/* ---------------------------------------------------------------------- what shows ---- */

/* Memories of a graph with elements that have a trace of the first poison. */
static void find_suspects(const struct outcome *outcome, uint32_t graph,
                          struct unwritten_list *list)
{
    const struct storage *storage = &outcome->storages.at[graph];
    for (uint32_t i = 0; i < storage->graph->values.count; i++) {
        struct unwritten unwritten;
        for (int trace = 0; trace < POISON_TRACES; trace++)
            if (poison_is_for(&outcome->storages, graph, i) &&
                poison_find(storage, NULL, i, (enum poison_trace)trace, &unwritten))
                vec_push(list, unwritten);
    }
}

static void find_all_suspects(const struct outcome *outcome, struct unwritten_list *list)
{
    for (uint32_t graph = 0; graph < outcome->storages.count; graph++)
        if (outcome->run->ran[graph])
            find_suspects(outcome, graph, list);
}

/* Those of them that have the same of the second poison after the second run. */
static void prove(const struct outcome *outcome, const struct storages *second,
                  const struct unwritten_list *suspects, struct unwritten_list *proven)
{
    for (uint32_t i = 0; i < suspects->count; i++) {
        struct unwritten unwritten = suspects->at[i];
        uint32_t graph = unwritten.graph;
        if (outcome->run->ran[graph] &&
            poison_find(&outcome->storages.at[graph], &second->at[graph], unwritten.value,
                        unwritten.trace, &unwritten))
            vec_push(proven, unwritten);
    }
}

/* Whether an input was written that no op writes. */
static bool has_changed_inputs(const struct outcome *outcome)
{
    int64_t offset;
    for (uint32_t i = 0; i < outcome->read_only.storage->graph->values.count; i++)
        if (read_only_is_changed(&outcome->read_only, i) ||
            read_only_is_written(&outcome->read_only, i, &offset))
            return true;
    return false;
}

/* Memories of values that something was written beside. */
static void find_damaged(const struct outcome *outcome, struct damaged_list *list)
{
    const struct storages *storages = &outcome->storages;
    int64_t first;
    for (uint32_t graph = 0; graph < storages->count; graph++)
        for (uint32_t i = 0;
             storages->at[graph].graph && i < storages->at[graph].graph->values.count; i++)
            if (storages->at[graph].guarded[i].at &&
                guarded_damage(&storages->at[graph].guarded[i], &first) > 0)
                vec_push(list, (struct damaged){graph, i});
}

static bool wrote_beside_run(const struct outcome *outcome)
{
    struct run_damage damage;
    return outcome->runner->how->damage(outcome->run, &damage);
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
        status = run_values_fill(outcome, second->storages);
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
    const struct run_watch watch = {findings_op_ended, findings, findings_op_begins};
    struct outcome single = {.runner = outcome->runner, .name = "op by op", .watch = &watch};
    enum exit_status status = run_open(&single, NULL);
    findings->run = single.run;
    read_only_init(&single.read_only, storages_main(second->storages));
    findings->watched = &single.read_only;
    if (status == EXIT_DONE)
        status = run_launch(&single, second->storages);
    run_close(&single);
    read_only_free(&single.read_only);
    findings->watched = NULL;
    findings->run = NULL;
    return status;
}

/* Whether a second run has left something else, though none that nobody wrote in both: a kernel
 * writes now this, now that. */
static bool differs(const struct outcome *outcome, const struct storages *second)
{
    struct text differences = {NULL, 0, 0};
    bool same = true;
    for (uint32_t i = 0; same && i < second->count; i++)
        same = !outcome->run->ran[i] || storage_compare(&outcome->storages.at[i], &second->at[i],
                                                        "in a second run", &differences);
    text_free(&differences);
    return !same;
}

/* What has shown in the first run. */
struct signs {
    struct unwritten_list suspects;
    bool changed;  /* an input, or it was written */
    bool changing; /* nothing; but what stands in some operands is seen only op by op */
};

static enum exit_status explain_varying(const struct outcome *outcome)
{
    const struct runner *runner = outcome->runner;
    enum exit_status status = run_probe(outcome);
    if (status == EXIT_DONE)
        diag_at(runner->diags, DIAG_wrong_kernel, locate_name(runner->module, runner->graph->loc),
                "the graph leaves other elements unwritten each time it runs");
    run_answers_print(outcome->runner, &outcome->storages);
    return EXIT_INPUT;
}

static enum exit_status explain(struct outcome *outcome, struct second *second,
                                const struct signs *signs, struct findings *findings)
{
    enum exit_status status = EXIT_DONE;
    if (signs->suspects.count)
        status = run_launch(outcome, second->storages);
    if (status == EXIT_DONE && signs->suspects.count)
        prove(outcome, second->storages, &signs->suspects, &findings->proven);
    if (status == EXIT_DONE && signs->suspects.count && !findings->proven.count &&
        differs(outcome, second->storages))
        return explain_varying(outcome);
    bool wrong =
        findings->damaged.count || findings->beside_run || signs->changed || findings->proven.count;
    if (status != EXIT_DONE || (!wrong && !signs->changing))
        return status;
    status = fill_second(outcome, second);
    findings->second = second->storages;
    findings_begin(findings);
    if (status == EXIT_DONE)
        status = watch_ops(outcome, second, findings);
    if (status == EXIT_DONE)
        findings_end(findings, signs->changed);
    if (status == EXIT_DONE && !wrong && !findings->misfed.count)
        return status;
    run_answers_print(outcome->runner, &outcome->storages);
    return EXIT_INPUT;
}

static enum exit_status explain_in_second(struct outcome *outcome, const struct signs *signs,
                                          struct findings *findings)
{
    struct second second;
    enum exit_status status = make_second(outcome, &second);
    if (status == EXIT_DONE)
        status = explain(outcome, &second, signs, findings);
    findings_free(findings);
    storages_free(&second.own);
    return status;
}

enum exit_status run_check_end(struct outcome *outcome)
{
    struct signs signs = {.changed = false};
    struct findings findings = {
        .runner = outcome->runner, .first = &outcome->storages, .read_only = &outcome->read_only};
    enum exit_status status = EXIT_DONE;
    if (outcome->runner->trust_kernels)
        return EXIT_DONE;
    status = run_operands_check_left(outcome, &signs.changing);
    if (status != EXIT_DONE) {
        run_answers_print(outcome->runner, &outcome->storages);
        return status;
    }
    signs.changing = signs.changing && outcome->fused;
    find_all_suspects(outcome, &signs.suspects);
    find_damaged(outcome, &findings.damaged);
    findings.beside_run = wrote_beside_run(outcome);
    signs.changed = has_changed_inputs(outcome);
    if (signs.suspects.count > 0 || findings.damaged.count > 0 || findings.beside_run ||
        signs.changed || signs.changing)
        status = explain_in_second(outcome, &signs, &findings);
    vec_free(&signs.suspects);
    return status;
}

void run_check_free(struct outcome *outcome)
{
    read_only_free(&outcome->read_only);
}
