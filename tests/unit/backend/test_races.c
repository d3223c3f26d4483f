/* The race check of the virtual device, the proof of verify-sync and sync_simulator.h must agree on
 * the entries of random graphs, as the pipeline `default` makes them and with instructions taken
 * out: what is proven runs without a race, and what the simulator finds without order is a race. */
#include "backend/device/launches.h"
#include "ir/analysis/launch_order.h"
#include "passes/manager/pipeline.h"
#include "tests/unit/entry_runner.h"
#include "tests/unit/parsed_module.h"
#include "tests/unit/random_graph.h"
#include "tests/unit/sync_simulator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct tally {
    unsigned graphs, entries, orders;
    unsigned mutations, proven, disordered, races, stuck, left, overflows;
    unsigned unproven; /* runs that are well, though refuted */
    unsigned stricter; /* races that the simulator does not find */
};

struct trial {
    uint64_t seed;
    struct text text;
    struct parsed_module parsed;
    struct order order;
    struct members members;
    struct arena arena;
    struct entry_runner *runner;
    struct tally *tally;
};

#define CHECK(trial, condition) RANDOM_CHECK((trial)->seed, &(trial)->text, condition)

static const struct graph *the_graph(const struct trial *trial)
{
    return &trial->parsed.module->graphs.at[0];
}

/* ------------------------------------------------------------------ the simulator ---- */

static struct sync_instr simulated(const struct trial *trial, const struct skrt_race_check *race,
                                   unsigned core, const struct instr *instr, uint32_t *call)
{
    const struct module *module = trial->parsed.module;
    enum instr_effect effect = instr_info(instr->op)->effect;
    if (effect == EFFECT_EVENT)
        return (struct sync_instr){.effect = EFFECT_NONE};
    if (effect != EFFECT_CALL)
        return (struct sync_instr){.effect = effect, .arg = instr->word};
    const struct kernel_type_info *info =
        kernel_type_info(module_find_kernel(module, instr->kernel)->type);
    return (struct sync_instr){.effect = EFFECT_CALL,
                               .arg = race->calls[core][(*call)++],
                               .blocks = instr->number[1],
                               .flat = info->flat};
}

static void simulate(const struct trial *trial, const struct entry *entry,
                     const struct skrt_race_check *race, struct sync_outcome *outcome)
{
    const struct kernel_type_info *info = kernel_type_info(entry->type);
    struct sync_launch launch = {
        .blocks = (unsigned)attr_int(trial->parsed.module, entry->attrs, W_block, 0),
        .per_block = {info->aics, info->aivs},
        .independent_parts = true};
    for (unsigned core = 0; core < CORE_TYPES; core++) {
        uint32_t call = 0;
        for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++)
            vec_push(&launch.programs[core],
                     simulated(trial, race, core, &entry->programs[core].instrs.at[i], &call));
    }
    sync_simulate(outcome, &launch);
    sync_launch_free(&launch);
}

static bool is_ordered(const struct skrt_race_check *race, const struct sync_outcome *outcome)
{
    for (uint32_t i = 0; i < race->n_orders; i++)
        if (!sync_outcome_orders(outcome, race->orders[i].before, race->orders[i].op))
            return false;
    return true;
}

/* ---------------------------------------------------------------------- agreement ---- */

static bool is_proven(const struct trial *trial)
{
    struct diags diags;
    diags_init(&diags, NULL, "test.skir");
    struct analyses analyses = {.effects = NULL};
    struct pass_context context = {
        .module = trial->parsed.module, .diags = &diags, .analyses = &analyses};
    bool proven = pass_verify_sync(&context);
    analyses_drop(&analyses);
    diags_free(&diags);
    return proven;
}

static bool reports(const struct skrt_result *result, const char *text)
{
    return result->report && strstr(result->report, text);
}

static void check_agreement(struct trial *trial, const struct entry *entry,
                            const struct skrt_race_check *race)
{
    struct sync_outcome outcome;
    struct skrt_result result;
    struct tally *tally = trial->tally;
    bool proven = is_proven(trial);
    simulate(trial, entry, race, &outcome);
    entry_runner_run(trial->runner, trial->parsed.module, entry, race, &result);
    bool ordered = is_ordered(race, &outcome);
    bool unordered = reports(&result, "without knowing");
    CHECK(trial, result.status != SKRT_INVALID && result.status != SKRT_MISUSE);
    CHECK(trial, !proven || result.status == SKRT_OK);
    CHECK(trial, ordered || unordered || result.status == SKRT_OVERFLOW);
    /* Where cores are stuck, what they never execute is not known, which the simulator passes
     * over. */
    CHECK(trial, !ordered || !unordered || outcome.stuck);
    CHECK(trial, !(outcome.undrained && !outcome.stuck) || reports(&result, "had drained"));
    CHECK(trial, !reports(&result, "had drained") || outcome.undrained);
    CHECK(trial, (result.status == SKRT_DEADLOCK) == (outcome.stuck > 0) ||
                     result.status == SKRT_OVERFLOW);
    tally->mutations++;
    tally->proven += proven;
    tally->disordered += !ordered;
    tally->races += result.status == SKRT_RACE;
    tally->stuck += result.status == SKRT_DEADLOCK;
    tally->left += result.status == SKRT_LEFT_SET;
    tally->overflows += result.status == SKRT_OVERFLOW;
    tally->unproven += !proven && result.status == SKRT_OK;
    tally->stricter += unordered && ordered;
    free(result.report);
}

struct place {
    unsigned core;
    uint32_t index;
};

/* Checks the entry without the instructions at `n` places. */
static void check_without(struct trial *trial, struct entry *entry,
                          const struct skrt_race_check *race, const struct place *places,
                          unsigned n)
{
    struct program whole[CORE_TYPES] = {entry->programs[0], entry->programs[1]};
    for (unsigned core = 0; core < CORE_TYPES; core++) {
        struct program *program = &entry->programs[core];
        *program = (struct program){.present = program->present};
        for (uint32_t i = 0; i < whole[core].instrs.count; i++) {
            bool taken = false;
            for (unsigned j = 0; j < n; j++)
                taken = taken || (places[j].core == core && places[j].index == i);
            if (!taken)
                vec_push(&program->instrs, whole[core].instrs.at[i]);
        }
    }
    check_agreement(trial, entry, race);
    for (unsigned core = 0; core < CORE_TYPES; core++) {
        vec_free(&entry->programs[core].instrs);
        entry->programs[core] = whole[core];
    }
}

/* Each instruction but calls is taken out alone, then together with the one behind it, which often
 * is the other half of a barrier, or with any other. */
static void mutate(struct trial *trial, struct entry *entry, const struct skrt_race_check *race)
{
    VEC(struct place) places = {NULL, 0, 0};
    for (unsigned core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++)
            if (entry->programs[core].instrs.at[i].op != INSTR_call)
                vec_push(&places, (struct place){core, i});
    struct random random = {trial->seed};
    for (uint32_t i = 0; i < places.count; i++) {
        check_without(trial, entry, race, &places.at[i], 1);
        struct place pair[2] = {places.at[i], places.at[i]};
        pair[1].index++;
        bool adjoin = i + 1 < places.count && places.at[i + 1].core == pair[1].core &&
                      places.at[i + 1].index == pair[1].index;
        if (!adjoin)
            pair[1] = places.at[random_below(&random, places.count)];
        check_without(trial, entry, race, pair, 2);
    }
    vec_free(&places);
}

static void check_entry(struct trial *trial, uint32_t block)
{
    struct module *module = trial->parsed.module;
    struct skrt_race_check race;
    struct skrt_result result;
    uint32_t first = trial->members.first[block];
    struct entry *entry = module_find_entry(module, the_graph(trial)->blocks.at[block].name);
    uint32_t count = trial->members.first[block + 1] - first;
    struct device_calls calls[CORE_TYPES];
    for (int core = 0; core < CORE_TYPES; core++)
        calls[core] = device_calls_find(&entry->programs[core], trial->members.grouped + first,
                                        count, &trial->arena);
    const struct device_race_source source = {.module = module,
                                              .graph = the_graph(trial),
                                              .order = &trial->order,
                                              .calls = calls,
                                              .ops = trial->members.ops + first,
                                              .count = count,
                                              .index = trial->members.index};
    device_race_check(&source, &trial->arena, &race);
    entry_runner_run(trial->runner, module, entry, &race, &result);
    if (result.report)
        fputs(result.report, stderr);
    CHECK(trial, result.status == SKRT_OK);
    trial->tally->entries++;
    trial->tally->orders += race.n_orders;
    mutate(trial, entry, &race);
}

/* The pipeline `default` but for limit-residency, since many random graphs have launches that would
 * hang beside each other. */
static bool lower(struct pass_context *context)
{
    struct pipeline pipeline = {NULL, 0, 0};
    for (unsigned i = 0; i < PASS_COUNT; i++)
        if (passes[i].in_default && i != PASS_limit_residency && i != PASS_verify_launches)
            pipeline_add(&pipeline, &passes[i]);
    enum pipeline_status status = pipeline_run(&pipeline, context, NULL, NULL);
    pipeline_free(&pipeline);
    return status == PIPELINE_OK && verify_module(context->module, context->diags);
}

static void run_trial(uint64_t seed, const struct random_graph_options *options,
                      struct entry_runner *runner, struct tally *tally)
{
    struct trial trial = {.seed = seed, .runner = runner, .tally = tally};
    random_graph(&trial.text, seed, options);
    parsed_init(&trial.parsed, trial.text.at, trial.text.size);
    struct module *module = trial.parsed.module;
    CHECK(&trial, module && verify_module(module, &trial.parsed.diags));
    struct pass_context context = {.module = module, .diags = &trial.parsed.diags};
    CHECK(&trial, lower(&context));
    order_init(&trial.order, module, the_graph(&trial));
    members_init(&trial.members, module, the_graph(&trial), &trial.order);
    for (uint32_t b = 0; b < the_graph(&trial)->blocks.count; b++)
        if (the_graph(&trial)->blocks.at[b].kind == BLOCK_SUPERKERNEL)
            check_entry(&trial, b);
    tally->graphs++;
    members_free(&trial.members);
    order_free(&trial.order);
    arena_free(&trial.arena);
    text_free(&trial.text);
    parsed_free(&trial.parsed);
}

static void run_random(uint64_t count, uint32_t threads, struct tally *tally)
{
    const struct random_graph_options options = {
        .max_ops = 12, .memory = true, .stream_fusion = true};
    struct random_runs runs = random_runs(count);
    struct entry_runner runner = {.config = {.aic = 24, .aiv = 48, .threads = threads}};
    for (uint64_t i = 0; i < runs.count; i++)
        run_trial(runs.seed + i, &options, &runner, tally);
    entry_runner_close(&runner);
    print_message("# seeds %llu..%llu: %u graphs, %u entries, %u orders; %u mutations: %u proven, "
                  "%u disordered, %u races, %u stuck, %u left, %u overflows, %u unproven, %u "
                  "stricter\n",
                  (unsigned long long)runs.seed, (unsigned long long)(runs.seed + runs.count - 1),
                  tally->graphs, tally->entries, tally->orders, tally->mutations, tally->proven,
                  tally->disordered, tally->races, tally->stuck, tally->left, tally->overflows,
                  tally->unproven, tally->stricter);
}

static void test_agreement(void **state)
{
    (void)state;
    struct tally tally = {0};
    run_random(600, 1, &tally);
    if (tally.graphs < 100)
        return;
    assert_true(tally.races > 0 && tally.stuck > 0 && tally.left > 0 && tally.disordered > 0);
}

/* The verdict does not depend on which thread runs which core. */
static void test_threads(void **state)
{
    (void)state;
    struct tally tally = {0};
    run_random(20, 3, &tally);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agreement),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests_name("races", tests, NULL, NULL);
}
