/* insert-syncs against the cheapest programs that there are (sync_oracle.h), for super kernels of
 * up to six ops: all in a single list, all of up to four and random ones in two lists; of mixed
 * sizes, with full barriers, and with dynamic kernels. The oracle's programs are confirmed by the
 * simulator, and the best of all are never dearer; up to five ops they save little. insert-syncs
 * has no more flags than programs whose flags order nothing more. What the best programs save is
 * printed; SKIR_TEST_SHOW=1 prints the smallest case of each largest gap, SKIR_TEST_FILTER chooses
 * tests. */
#include "passes/manager/pipeline.h"
#include "tests/unit/parsed_module.h"
#include "tests/unit/random_graph.h"
#include "tests/unit/sync_oracle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum mode { SINGLE_LIST, TWO_LISTS };

enum { ANY_COST = 1000, ALL_OPS = 4, ALL_SIZED_OPS = 3, ALL_DYNAMIC_OPS = 3 };

/* Kernels that ops run. The first ones use all cores of their types of two AI cores. */
enum { N_WHOLE = 3, N_SIZES = 6, N_KINDS = 9, FULL = N_KINDS, DYNAMIC, N_DYNAMIC = 3 };
enum { N_ALL = DYNAMIC + N_DYNAMIC };
static const struct kind {
    const char *type;
    bool on[CORE_TYPES], flat;
    unsigned blocks;
} kinds[N_ALL] = {
    {"aic_only", {true, false}, false, 2},   {"aiv_only", {false, true}, true, 4},
    {"mix_aic_1_2", {true, true}, false, 2}, {"aic_only", {true, false}, false, 1},
    {"aiv_only", {false, true}, true, 1},    {"mix_aic_1_2", {true, true}, false, 1},
    {"aiv_only", {false, true}, true, 2},    {"mix_aic_1_1", {true, true}, false, 2},
    {"mix_aic_1_1", {true, true}, false, 1}, {"mix_aic_1_2", {true, true}, false, 2},
    {"aic_only", {true, false}, false, 2},   {"aiv_only", {false, true}, true, 4},
    {"mix_aic_1_2", {true, true}, false, 2},
};

/* Of the variants of dynamic kernels. */
static const char *const functions[N_DYNAMIC] = {"aic = \"f\"", "aiv = \"f\"",
                                                 "aic = \"f_mix_aic\", aiv = \"f_mix_aiv\""};

/* What insert-syncs is compared with. Where its own programs are among those of the rules, it is
 * not below the best. */
static const struct {
    const char *name;
    struct oracle_rules rules;
    bool with_own;
} oracles[] = {
    {"best without spread waits", {false, ORACLE_NO_WAIT}, false},
    {"best with spread waits in gaps without sets", {false, ORACLE_WAIT_WITHOUT_SET}, false},
    {"best with spread waits", {false, ORACLE_ANY_WAIT}, false},
    {"best of all, with excess flags", {true, ORACLE_ANY_WAIT}, true},
};
enum { N_ORACLES = sizeof oracles / sizeof *oracles };

struct comparison {
    unsigned equal, below, gap;
    uint64_t cost;
    struct text widest; /* the smallest case with the largest gap */
    unsigned widest_ops;
};

struct tally {
    unsigned cases;
    uint64_t cost;
    struct comparison with[N_ORACLES];
};

struct trial {
    enum mode mode;
    unsigned count, n_kinds;
    bool full;                                            /* one op has full barriers of its own */
    bool dynamic;                                         /* ops may be dynamic, and one is */
    unsigned kind[ORACLE_MAX_OPS], needs[ORACLE_MAX_OPS]; /* needs is transitively closed */
    struct text text;
    struct tally *tally;
};

#define CHECK(trial, condition)                                                                    \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "# fails:\n%.*s\n", (int)(trial)->text.size, (trial)->text.at);        \
            fail_msg("not %s", #condition);                                                        \
        }                                                                                          \
    } while (0)

/* ------------------------------------------------------------------------------- cases ---- */

static void put_kernel(struct text *text, unsigned kind)
{
    const struct kind *of = &kinds[kind];
    text_printf(text, "kernel @k%u : %s {", kind, of->type);
    if (kind >= DYNAMIC)
        text_printf(text, "dynamic, variants = [{key = 0, type = %s, %s}]}\n", of->type,
                    functions[kind - DYNAMIC]);
    else
        text_printf(text, "block = %u%s}\n", of->blocks, kind == FULL ? ", sync_all" : "");
}

/* In two lists each op has a stream of its own, so its operands alone order it. */
static void put_case(struct text *text, const struct trial *trial)
{
    text_string(text, "skir 1\ntarget \"small\" {aic = 2, aiv = 4}\n");
    for (unsigned i = 0; i < N_ALL; i++)
        if (i < trial->n_kinds || (trial->full && i == FULL) || (trial->dynamic && i >= DYNAMIC))
            put_kernel(text, i);
    text_string(text, "graph @g(%a: f32[8]) -> () {\n");
    text_printf(text, "scope @s {options = \"stream-fusion=%d\"} {\n", trial->mode == TWO_LISTS);
    for (unsigned i = 0; i < trial->count; i++) {
        if (trial->mode == TWO_LISTS)
            text_printf(text, "stream \"%u\" {\n", i);
        text_printf(text, "%%v%u = Op(%%a", i);
        for (unsigned j = 0; j < i && trial->mode == TWO_LISTS; j++)
            if (trial->needs[i] >> j & 1)
                text_printf(text, ", %%v%u", j);
        text_printf(text, ") : f32[8] via @k%u\n%s", trial->kind[i],
                    trial->mode == TWO_LISTS ? "}\n" : "");
    }
    text_string(text, "}\n}\n");
}

/* The ops; the launch is for the entry to say. */
static struct oracle_case make_case(const struct trial *trial)
{
    struct oracle_case instance = {.count = trial->count};
    for (unsigned i = 0; i < trial->count; i++) {
        const struct kind *kind = &kinds[trial->kind[i]];
        struct oracle_op *op = &instance.ops[i];
        *op = (struct oracle_op){.blocks = kind->blocks,
                                 .flat = kind->flat,
                                 .full = trial->kind[i] == FULL,
                                 .dynamic = trial->kind[i] >= DYNAMIC};
        op->needs = trial->mode == TWO_LISTS ? trial->needs[i] : (1u << i) - 1;
        for (unsigned type = 0; type < CORE_TYPES; type++)
            op->on[type] = kind->on[type];
    }
    return instance;
}

/* ------------------------------------------------------------------------------ checks ---- */

static void find_launch(struct oracle_case *instance, const struct module *module)
{
    const struct entry *entry = &module->entries.at[0];
    const struct kernel_type_info *info = kernel_type_info(entry->type);
    instance->blocks = (unsigned)attr_int(module, entry->attrs, W_block, 0);
    instance->per_block[CORE_AIC] = info->aics;
    instance->per_block[CORE_AIV] = info->aivs;
}

/* Cost and flags of the entry that insert-syncs makes, and its launch. */
static void insert(const struct trial *trial, struct oracle_case *instance, unsigned *cost,
                   unsigned *flags)
{
    static const char passes[] = "assign-streams,partition-scopes,split-nonfusable,"
                                 "limit-stream-fusion,insert-events,bind-kernels,"
                                 "lower-superkernels,insert-syncs,verify-sync";
    struct parsed_module parsed;
    parsed_init(&parsed, trial->text.at, trial->text.size);
    struct pass_context context = {.module = parsed.module, .diags = &parsed.diags};
    CHECK(trial, parsed.module && verify_module(parsed.module, &parsed.diags));
    CHECK(trial, pipeline_run_list(&context, passes) == PIPELINE_OK);
    CHECK(trial, parsed.module->entries.count == 1);
    find_launch(instance, parsed.module);
    *cost = *flags = 0;
    for (unsigned type = 0; type < CORE_TYPES; type++) {
        const struct program *program = &parsed.module->entries.at[0].programs[type];
        for (uint32_t i = 0; i < program->instrs.count; i++) {
            enum instr_effect effect = instr_info(program->instrs.at[i].op)->effect;
            *cost += effect != EFFECT_CALL && effect != EFFECT_SELECT && effect != EFFECT_EVENT;
            *flags += effect == EFFECT_SET;
        }
    }
    parsed_free(&parsed);
}

/* Whether the selects of an op are over on all cores before its lock is reset. */
static bool is_unlocked(const struct oracle_case *instance, const struct sync_outcome *outcome,
                        unsigned op)
{
    const struct oracle_op *of = &instance->ops[op];
    unsigned select = oracle_select(instance->count, op);
    unsigned reset = oracle_reset(instance->count, of->on[CORE_AIC] ? CORE_AIC : CORE_AIV);
    return !of->dynamic ||
           (sync_ops_has(&outcome->started, select) && sync_ops_has(&outcome->started, reset) &&
            sync_outcome_orders(outcome, select, reset));
}

/* What the simulator says of the programs. */
static bool is_well(const struct oracle_case *instance, const struct sync_program *programs)
{
    struct sync_launch launch = {.blocks = instance->blocks};
    struct sync_outcome outcome;
    for (unsigned type = 0; type < CORE_TYPES; type++) {
        launch.per_block[type] = instance->per_block[type];
        launch.programs[type] = programs[type];
    }
    sync_simulate(&outcome, &launch);
    bool well = sync_outcome_ok(&outcome);
    for (unsigned i = 0; i < instance->count; i++) {
        well = well && sync_ops_has(&outcome.started, i) && is_unlocked(instance, &outcome, i);
        for (unsigned j = 0; j < i; j++)
            well =
                well && (!(instance->ops[i].needs >> j & 1) || sync_outcome_orders(&outcome, j, i));
    }
    return well;
}

/* Disables the n-th instruction of the effect, and returns it; NULL where there are fewer. What
 * stands in its place does nothing. */
static struct sync_instr *disable(struct sync_program *program, enum instr_effect effect,
                                  unsigned n, enum instr_effect instead)
{
    for (uint32_t i = 0; i < program->count; i++)
        if (program->at[i].effect == effect && n-- == 0) {
            program->at[i].effect = instead;
            return &program->at[i];
        }
    return NULL;
}

/* What is cheaper by one barrier (that is only a drain), flag or drain: two instructions, of which
 * the second may be in the other program. */
static const struct cheaper {
    enum instr_effect first, instead, second;
    bool other;
} cheaper[] = {
    {EFFECT_ARRIVE, EFFECT_DRAIN, EFFECT_AWAIT, false},
    {EFFECT_SET, EFFECT_NONE, EFFECT_WAIT, true},
    {EFFECT_DRAIN, EFFECT_NONE, EFFECT_CALL, false},
};

static void check_cheaper(const struct trial *trial, const struct oracle_case *instance,
                          struct oracle_result *result, unsigned type, const struct cheaper *change)
{
    struct sync_program *program = &result->programs[type];
    struct sync_program *partner = &result->programs[change->other ? 1 - type : type];
    struct sync_instr *first, *second = NULL;
    for (unsigned n = 0; (first = disable(program, change->first, n, change->instead)); n++) {
        if (change->second != EFFECT_CALL)
            second = disable(partner, change->second, n, EFFECT_NONE);
        CHECK(trial, !is_well(instance, result->programs));
        first->effect = change->first;
        if (second)
            second->effect = change->second;
    }
}

/* The simulator finds the programs correct, too, and programs that are cheaper by one piece
 * wrong. */
static void confirm(const struct trial *trial, const struct oracle_case *instance,
                    struct oracle_result *result)
{
    CHECK(trial, oracle_program_cost(&result->programs[CORE_AIC]) +
                         oracle_program_cost(&result->programs[CORE_AIV]) ==
                     result->cost);
    CHECK(trial, is_well(instance, result->programs));
    for (unsigned type = 0; type < CORE_TYPES; type++)
        for (unsigned i = 0; i < sizeof cheaper / sizeof *cheaper; i++)
            check_cheaper(trial, instance, result, type, &cheaper[i]);
}

static void compare(const struct trial *trial, struct comparison *with, unsigned inserted,
                    unsigned best)
{
    unsigned gap = inserted > best ? inserted - best : 0;
    with->equal += inserted == best;
    with->below += inserted < best;
    with->cost += best;
    if (gap > with->gap || (gap == with->gap && gap > 0 && trial->count < with->widest_ops)) {
        with->widest.size = 0;
        text_bytes(&with->widest, trial->text.at, trial->text.size);
        with->widest_ops = trial->count;
        with->gap = gap;
    }
}

static void run_trial(struct trial *trial)
{
    struct oracle_case instance = make_case(trial);
    unsigned cost, flags;
    put_case(&trial->text, trial);
    insert(trial, &instance, &cost, &flags);
    for (unsigned i = 0; i < N_ORACLES; i++) {
        struct oracle_result result;
        if ((trial->full || trial->dynamic) && !oracles[i].rules.excess)
            continue; /* flags that are waited for early, or of locks, order more */
        bool found = oracle_search(&result, &instance, oracles[i].rules,
                                   oracles[i].with_own ? cost : ANY_COST);
        CHECK(trial, found);
        CHECK(trial, oracles[i].rules.excess || flags <= result.fewest_flags);
        confirm(trial, &instance, &result);
        compare(trial, &trial->tally->with[i], cost, result.cost);
        oracle_free(&result);
    }
    trial->tally->cases++;
    trial->tally->cost += cost;
    text_free(&trial->text);
}

static void report(const char *what, struct tally *tally)
{
    print_message("# %s: %u cases, cost of insert-syncs %llu\n", what, tally->cases,
                  (unsigned long long)tally->cost);
    for (unsigned i = 0; i < N_ORACLES; i++) {
        struct comparison *with = &tally->with[i];
        if (with->cost == 0)
            continue;
        print_message("#   %s: cost %llu, equal in %u cases, dearer in %u, largest gap %u\n",
                      oracles[i].name, (unsigned long long)with->cost, with->equal, with->below,
                      with->gap);
        text_char(&with->widest, '\0');
        if (with->gap && getenv("SKIR_TEST_SHOW"))
            print_message("%s", with->widest.at);
        text_free(&with->widest);
    }
}

/* In most cases nothing can be saved, and little in all. Few random cases say nothing. */
static void check_close(const struct tally *tally, unsigned percent)
{
    const struct comparison *best = &tally->with[N_ORACLES - 1];
    if (tally->cases < 1000)
        return;
    assert_true(100 * tally->cost <= 101 * best->cost);
    assert_true(100 * best->equal >= percent * tally->cases);
}

static void check_optimal(const struct tally *tally)
{
    assert_int_equal(tally->with[N_ORACLES - 1].equal, tally->cases);
}

/* ----------------------------------------------------------------------------- families ---- */

static unsigned count_kinds(const struct trial *trial)
{
    return trial->n_kinds + (trial->dynamic ? N_DYNAMIC : 0);
}

static unsigned kind_at(const struct trial *trial, unsigned i)
{
    return i < trial->n_kinds ? i : DYNAMIC + i - trial->n_kinds;
}

static bool is_of_family(const struct trial *trial)
{
    bool dynamic = false;
    for (unsigned i = 0; i < trial->count; i++)
        dynamic |= trial->kind[i] >= DYNAMIC;
    return dynamic == trial->dynamic;
}

/* All kinds of the ops from `op` on. */
static void run_kinds(struct trial *trial, unsigned op)
{
    for (unsigned i = 0; i < count_kinds(trial) && op < trial->count; i++) {
        trial->kind[op] = kind_at(trial, i);
        run_kinds(trial, op + 1);
    }
    if (op == trial->count && is_of_family(trial))
        run_trial(trial);
}

static bool is_closed(const struct trial *trial, unsigned op)
{
    for (unsigned i = 0; i < op; i++)
        if ((trial->needs[op] >> i & 1) && (trial->needs[i] & ~trial->needs[op]))
            return false;
    return true;
}

/* All orders of the ops from `op` on. */
static void run_orders(struct trial *trial, unsigned op)
{
    for (unsigned needs = 0; needs < 1u << op && op < trial->count; needs++) {
        trial->needs[op] = needs;
        if (is_closed(trial, op))
            run_orders(trial, op + 1);
    }
    if (op == trial->count)
        run_kinds(trial, 0);
}

static void test_single_list(void **state)
{
    (void)state;
    struct tally tally = {0};
    for (unsigned count = 1; count <= ORACLE_MAX_OPS; count++)
        run_kinds(
            &(struct trial){
                .mode = SINGLE_LIST, .count = count, .n_kinds = N_WHOLE, .tally = &tally},
            0);
    report("single list, all of up to 6 ops", &tally);
    check_optimal(&tally);
}

static void test_two_lists(void **state)
{
    (void)state;
    struct tally tally = {0};
    for (unsigned count = 1; count <= ALL_OPS; count++)
        run_orders(
            &(struct trial){.mode = TWO_LISTS, .count = count, .n_kinds = N_WHOLE, .tally = &tally},
            0);
    report("two lists, all of up to 4 ops", &tally);
    check_close(&tally, 97);
}

static void random_trial(struct trial *trial, uint64_t seed, unsigned least, unsigned choices)
{
    struct random random = {.state = seed};
    unsigned percent = 5 + random_below(&random, 60);
    trial->count = least + random_below(&random, choices);
    for (unsigned i = 0; i < trial->count; i++) {
        trial->kind[i] = kind_at(trial, random_below(&random, count_kinds(trial)));
        if (trial->full && i == trial->count / 2)
            trial->kind[i] = FULL;
        if (trial->dynamic && i == trial->count / 2)
            trial->kind[i] = DYNAMIC + random_below(&random, N_DYNAMIC);
        trial->needs[i] = 0;
        for (unsigned j = 0; j < i; j++)
            if (random_percent(&random, percent))
                trial->needs[i] |= 1u << j | trial->needs[j];
    }
}

static struct tally run_random(const char *what, const struct trial *trial, uint64_t count,
                               unsigned least, unsigned choices)
{
    struct tally tally = {0};
    struct random_runs runs = random_runs(count);
    for (uint64_t i = 0; i < runs.count; i++) {
        struct trial copy = *trial;
        copy.tally = &tally;
        random_trial(&copy, runs.seed + i, least, choices);
        run_trial(&copy);
    }
    print_message("# seeds %llu to %llu\n", (unsigned long long)runs.seed,
                  (unsigned long long)(runs.seed + runs.count - 1));
    report(what, &tally);
    return tally;
}

static void test_random_two_lists(void **state)
{
    (void)state;
    run_random("two lists, random of 5 and 6 ops",
               &(struct trial){.mode = TWO_LISTS, .n_kinds = N_WHOLE}, 2000, 5, 2);
}

/* Ops of one block beside others, and launches of one block. */
static void test_sizes(void **state)
{
    (void)state;
    struct tally single = {0}, two = {0};
    struct trial trial = {.n_kinds = N_SIZES, .tally = &single};
    for (trial.count = 1; trial.count <= ALL_OPS; trial.count++)
        run_kinds(&trial, 0);
    report("single list of mixed sizes, all of up to 4 ops", &single);
    check_optimal(&single);
    trial.mode = TWO_LISTS;
    trial.tally = &two;
    for (trial.count = 1; trial.count <= ALL_SIZED_OPS; trial.count++)
        run_orders(&trial, 0);
    report("two lists of mixed sizes, all of up to 3 ops", &two);
    check_close(&two, 99);
}

static void test_random_sizes(void **state)
{
    (void)state;
    struct tally single =
        run_random("single list of mixed sizes, random of 5 ops",
                   &(struct trial){.mode = SINGLE_LIST, .n_kinds = N_KINDS}, 1000, 5, 1);
    check_close(&single, 99);
    struct tally two =
        run_random("two lists of mixed sizes, random of 4 and 5 ops",
                   &(struct trial){.mode = TWO_LISTS, .n_kinds = N_KINDS}, 1000, 4, 2);
    check_close(&two, 93);
}

/* Flags that are outstanding at such a kernel must be waited for before it. */
static void test_full_barriers(void **state)
{
    (void)state;
    struct tally tally = run_random(
        "two lists, random of 4 and 5 ops, one with full barriers",
        &(struct trial){.mode = TWO_LISTS, .n_kinds = N_WHOLE, .full = true}, 1000, 4, 2);
    check_close(&tally, 95);
}

/* Locks of dynamic kernels are reset when all cores have selected. */
static void test_dynamic(void **state)
{
    (void)state;
    struct tally single = {0}, two = {0};
    struct trial trial = {.n_kinds = N_WHOLE, .dynamic = true, .tally = &single};
    for (trial.count = 1; trial.count <= ALL_DYNAMIC_OPS; trial.count++)
        run_kinds(&trial, 0);
    report("single list with dynamic ops, all of up to 3 ops", &single);
    check_optimal(&single);
    trial.mode = TWO_LISTS;
    trial.tally = &two;
    for (trial.count = 1; trial.count < ALL_DYNAMIC_OPS; trial.count++)
        run_orders(&trial, 0);
    report("two lists with dynamic ops, all of up to 2 ops", &two);
    check_optimal(&two);
}

static void test_random_dynamic(void **state)
{
    (void)state;
    struct tally single =
        run_random("single list with dynamic ops of mixed sizes, random of 3 ops",
                   &(struct trial){.n_kinds = N_KINDS, .dynamic = true}, 1000, 3, 1);
    check_close(&single, 99);
    struct tally two = run_random(
        "two lists with dynamic ops, random of 3 ops",
        &(struct trial){.mode = TWO_LISTS, .n_kinds = N_WHOLE, .dynamic = true}, 1000, 3, 1);
    check_close(&two, 96);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single_list),      cmocka_unit_test(test_two_lists),
        cmocka_unit_test(test_random_two_lists), cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_random_sizes),     cmocka_unit_test(test_full_barriers),
        cmocka_unit_test(test_dynamic),          cmocka_unit_test(test_random_dynamic),
    };
    cmocka_set_test_filter(getenv("SKIR_TEST_FILTER"));
    return cmocka_run_group_tests_name("sync_oracle", tests, NULL, NULL);
}
