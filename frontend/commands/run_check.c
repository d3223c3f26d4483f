#include "frontend/commands/run_check.h"
#include "frontend/commands/op_checks.h"
#include "frontend/commands/run_answers.h"
#include "frontend/commands/run_launch.h"
#include "frontend/commands/run_operands.h"
#include "frontend/commands/run_values.h"

/* Sums of the inputs that no op writes; 0: it is none of them. */
static uint64_t *sum_inputs(const struct outcome *outcome)
{
    const struct storage *storage = storages_main(&outcome->storages);
    uint32_t graph = outcome->storages.main_graph;
    struct writers writers;
    uint64_t *sums = mem_calloc(storage->graph->values.count + 1, sizeof *sums);
    writers_init(&writers, outcome->runner->module, &outcome->storages);
    for (uint32_t i = 0; i < storage->graph->values.count; i++)
        if (storage->guarded[i].at && value_is_steady(&writers, graph, i))
            sums[i] = guarded_sum(&storage->guarded[i]) | 1;
    writers_free(&writers);
    return sums;
}

static bool has_changed_inputs(const struct outcome *outcome)
{
    const struct storage *storage = storages_main(&outcome->storages);
    for (uint32_t i = 0; i < storage->graph->values.count; i++)
        if (outcome->input_sums[i] &&
            outcome->input_sums[i] != (guarded_sum(&storage->guarded[i]) | 1))
            return true;
    return false;
}

void run_check_begin(struct outcome *outcome)
{
    if (outcome->runner->trust_kernels)
        return;
    outcome->input_sums = sum_inputs(outcome);
    poison_fill(&outcome->storages, POISON_NAN);
}

void run_check_again(const struct outcome *outcome)
{
    const struct storages *storages = &outcome->workplace->storages;
    enum poison poison = outcome->runs == 1 ? POISON_HIGH : POISON_LOW;
    if (outcome->runner->trust_kernels)
        return;
    poison_fill(storages, poison);
    if (outcome->runs > 2)
        return;
    poison_fill_beside(storages, poison);
    outcome->runner->how->spoil(outcome->run, poison_byte(poison, DTYPE_f32));
}

void run_check_free(struct outcome *outcome)
{
    mem_free(outcome->input_sums);
    outcome->input_sums = NULL;
}

/* ------------------------------------------------------------------------------ signs ---- */

static void find_in_graph(const struct outcome *outcome, uint32_t graph, struct run_signs *signs)
{
    const struct storage *storage = &outcome->storages.at[graph];
    struct unwritten unwritten;
    for (uint32_t i = 0; outcome->run->ran[graph] && i < storage->graph->values.count; i++) {
        if (!poison_is_for(&outcome->storages, graph, i))
            continue;
        signs->unknown |= poison_was_read(storage, i);
        if (poison_find(storage, NULL, i, &unwritten))
            vec_push(&signs->unwritten, unwritten);
    }
}

static bool wrote_beside_values(const struct storages *storages)
{
    int64_t first;
    for (uint32_t graph = 0; graph < storages->count; graph++)
        for (uint32_t i = 0;
             storages->at[graph].graph && i < storages->at[graph].graph->values.count; i++)
            if (storages->at[graph].guarded[i].at &&
                guarded_damage(&storages->at[graph].guarded[i], &first) > 0)
                return true;
    return false;
}

/* Unwritten elements may be what a kernel has computed until a second run proves them. */
static void find_signs(const struct outcome *outcome, struct run_signs *signs)
{
    struct run_damage damage;
    for (uint32_t graph = 0; graph < outcome->storages.count; graph++)
        find_in_graph(outcome, graph, signs);
    signs->beside = wrote_beside_values(&outcome->storages) ||
                    outcome->runner->how->damage(outcome->run, &damage);
    signs->changed = has_changed_inputs(outcome);
}

/* Keeps those elements that hold POISON_HIGH after a second run that began with it. */
static enum exit_status prove(struct outcome *outcome, const struct storages *storages,
                              struct unwritten_list *list)
{
    uint32_t count = list->count;
    enum exit_status status = run_values_fill(outcome, storages);
    poison_fill(storages, POISON_HIGH);
    if (status == EXIT_DONE)
        status = run_launch(outcome, storages);
    list->count = 0;
    for (uint32_t i = 0; i < count && status == EXIT_DONE; i++) {
        struct unwritten found = list->at[i];
        if (outcome->run->ran[found.graph] &&
            poison_find(&outcome->storages.at[found.graph], &storages->at[found.graph], found.value,
                        &found))
            list->at[list->count++] = found;
    }
    return status;
}

/* --------------------------------------------------------------------------- ops ---- */

/* In storages of its own. */
static enum exit_status explain(struct outcome *outcome, struct run_signs *signs)
{
    struct storages storages;
    bool wrong = false;
    uint32_t suspected = signs->unwritten.count;
    enum exit_status status = run_values_init(outcome->runner, &storages) ? EXIT_DONE : EXIT_INPUT;
    if (status == EXIT_DONE && suspected)
        status = prove(outcome, &storages, &signs->unwritten);
    bool is_sign = signs->unwritten.count || signs->beside || signs->changed || signs->unknown;
    if (status == EXIT_DONE && is_sign)
        status = op_checks_run(outcome, &storages, signs, &wrong);
    storages_free(&storages);
    if (!wrong)
        return status;
    run_answers_print(outcome->runner, &outcome->storages);
    return EXIT_INPUT;
}

enum exit_status run_check_end(struct outcome *outcome)
{
    struct run_signs signs = {.beside = false};
    if (outcome->runner->trust_kernels)
        return EXIT_DONE;
    enum exit_status status = run_operands_check_left(outcome, &signs.unknown);
    if (status != EXIT_DONE) {
        run_answers_print(outcome->runner, &outcome->storages);
        return status;
    }
    signs.unknown = signs.unknown && outcome->fused;
    find_signs(outcome, &signs);
    if (signs.unwritten.count || signs.beside || signs.changed || signs.unknown)
        status = explain(outcome, &signs);
    vec_free(&signs.unwritten);
    return status;
}

enum exit_status run_check_ops(const struct outcome *outcome)
{
    const struct run_signs none = {.beside = false};
    struct storages storages;
    bool wrong = false;
    enum exit_status status = run_values_init(outcome->runner, &storages) ? EXIT_DONE : EXIT_INPUT;
    if (status == EXIT_DONE)
        status = op_checks_run(outcome, &storages, &none, &wrong);
    storages_free(&storages);
    return wrong ? EXIT_INPUT : status;
}
