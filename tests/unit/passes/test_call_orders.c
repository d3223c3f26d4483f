/* Entries of random graphs whose calls are put into another order before they are synchronised. An
 * order that the graph allows is synchronised, proven, and found well by sync_simulator.h; one that
 * it does not allow is refused. What allowed means is said here by the rules of the language
 * (graph_model.h): the orders of the graph and of the two programs have no circle.
 *
 * SKIR_TEST_SEED and SKIR_TEST_COUNT choose other graphs, SKIR_TEST_JOBS the number of processes,
 * SKIR_TEST_FILTER the tests. */
#include "ir/analysis/analyses.h"
#include "passes/manager/pipeline.h"
#include "tests/unit/entry_launch.h"
#include "tests/unit/graph_model.h"
#include "tests/unit/parallel.h"
#include "tests/unit/parsed_module.h"
#include "tests/unit/random_graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum count { GRAPHS, ENTRIES, REORDERED, REFUSED, ALLOWED, N_COUNTS };

struct plan {
    struct random_graph_options options;
    const char *sk_options; /* of all scopes, over their own; NULL: none */
    unsigned swaps;         /* of neighbours, in each program by itself */
};

struct trial {
    uint64_t seed;
    struct random random;
    struct text text;
    struct parsed_module parsed;
    struct pass_context context;
    struct analyses analyses;
    struct graph_model model;
    const struct plan *plan;
    unsigned *counts;
};

#define CHECK(trial, condition) PARALLEL_CHECK(report_failure, trial, condition)

static void report_failure(struct trial *trial, const char *condition, int line)
{
    struct text text = parsed_print(&trial->parsed, false);
    random_report(trial->seed, &trial->text);
    diags_print(&trial->parsed.diags, stderr, false);
    fprintf(stderr, "# as it is now:\n%s# line %d: not %s\n", text.at, line, condition);
    text_free(&text);
}

static const struct graph *the_graph(const struct trial *trial)
{
    return &trial->parsed.module->graphs.at[0];
}

/* ------------------------------------------------------------------------------ programs ---- */

/* What belongs to one call, from its waits to its notifications. */
struct unit {
    unsigned op; /* its number */
    uint32_t first, end;
};

struct units {
    struct unit at[MODEL_MAX_OPS];
    unsigned count;
};

/* The number of the op whose arguments a call of an entry that a pass has made passes. */
static unsigned called_op(const struct trial *trial, const struct entry *entry,
                          const struct instr *call)
{
    uint32_t name = entry->groups.at[call->number[0]].name;
    bool word = entry->groups.at[call->number[0]].word;
    for (unsigned nr = 0; nr < trial->model.count; nr++) {
        const struct op *op = &the_graph(trial)->ops.at[trial->model.id[nr]];
        uint32_t last = op->results.first + op->results.count - 1;
        bool same = op->results.count ? !word && the_graph(trial)->values.at[last].name == name
                                      : word && op->kernel == call->kernel;
        if (same && trial->model.superkernel[nr] == entry->name && !trial->model.passive[nr])
            return nr;
    }
    return NONE;
}

static void find_units(struct trial *trial, const struct entry *entry, unsigned core,
                       struct units *units)
{
    const struct program *program = &entry->programs[core];
    uint32_t first = 0;
    units->count = 0;
    for (uint32_t i = 0; i < program->instrs.count; i++) {
        if (program->instrs.at[i].op != INSTR_call)
            continue;
        struct unit unit = {called_op(trial, entry, &program->instrs.at[i]), first, i + 1};
        while (unit.end < program->instrs.count && program->instrs.at[unit.end].op == INSTR_notify)
            unit.end++;
        CHECK(trial, unit.op != NONE);
        units->at[units->count++] = unit;
        first = unit.end;
    }
}

/* What stands behind the last unit stays there. */
static void write_units(struct program *program, const struct units *units)
{
    struct instr *copy = mem_calloc(program->instrs.count, sizeof *copy);
    uint32_t at = 0;
    if (program->instrs.count)
        memcpy(copy, program->instrs.at, program->instrs.count * sizeof *copy);
    for (unsigned i = 0; i < units->count; i++)
        for (uint32_t n = units->at[i].first; n < units->at[i].end; n++)
            program->instrs.at[at++] = copy[n];
    mem_free(copy);
}

/* ------------------------------------------------------------------------------- orders ---- */

/* A random order of all ops that the graph allows. */
static void draw_order(struct trial *trial, unsigned *rank)
{
    uint64_t done = 0;
    for (unsigned n = 0; n < trial->model.count; n++) {
        unsigned skip = random_below(&trial->random, trial->model.count), nr = 0;
        for (unsigned tries = 0;; tries++, nr = (nr + 1) % trial->model.count) {
            bool ready = !(done >> nr & 1) && !(trial->model.needs[nr] & ~done);
            if (ready && tries >= skip)
                break;
        }
        done |= (uint64_t)1 << nr;
        rank[nr] = n;
    }
}

static void sort_units(struct units *units, const unsigned *rank)
{
    for (unsigned i = 1; i < units->count; i++)
        for (unsigned j = i; j > 0 && rank[units->at[j - 1].op] > rank[units->at[j].op]; j--) {
            struct unit unit = units->at[j];
            units->at[j] = units->at[j - 1];
            units->at[j - 1] = unit;
        }
}

static void swap_units(struct trial *trial, struct units *units)
{
    for (unsigned n = 0; units->count > 1 && n < trial->plan->swaps; n++) {
        unsigned i = random_below(&trial->random, units->count - 1);
        struct unit unit = units->at[i];
        units->at[i] = units->at[i + 1];
        units->at[i + 1] = unit;
    }
}

/* Whether the orders of the graph among the ops of an entry, and those of its programs, have no
 * circle. */
static bool is_allowed(const struct trial *trial, const struct units *programs)
{
    uint64_t before[MODEL_MAX_OPS] = {0}, left = 0;
    for (unsigned core = 0; core < CORE_TYPES; core++)
        for (unsigned i = 0; i < programs[core].count; i++) {
            unsigned op = programs[core].at[i].op;
            left |= (uint64_t)1 << op;
            before[op] |= trial->model.needs[op];
            if (i > 0)
                before[op] |= (uint64_t)1 << programs[core].at[i - 1].op;
        }
    for (bool moved = true; moved;) {
        moved = false;
        for (unsigned op = 0; op < trial->model.count; op++)
            if (left >> op & 1 && !(before[op] & left & ~((uint64_t)1 << op))) {
                left &= ~((uint64_t)1 << op);
                moved = true;
            }
    }
    return left == 0;
}

/* Puts the calls of an entry into another order; whether that is allowed. */
static bool reorder(struct trial *trial, struct entry *entry, const unsigned *rank)
{
    struct units programs[CORE_TYPES];
    bool same = true;
    for (unsigned core = 0; core < CORE_TYPES; core++) {
        find_units(trial, entry, core, &programs[core]);
        sort_units(&programs[core], rank);
        swap_units(trial, &programs[core]);
        for (unsigned i = 1; i < programs[core].count; i++)
            same = same && programs[core].at[i - 1].first < programs[core].at[i].first;
        write_units(&entry->programs[core], &programs[core]);
    }
    trial->counts[ENTRIES]++;
    trial->counts[REORDERED] += !same;
    return is_allowed(trial, programs);
}

/* ------------------------------------------------------------------------------- trials ---- */

static bool run_passes(struct trial *trial, const char *list)
{
    enum pipeline_status status = pipeline_run_list(&trial->context, list);
    CHECK(trial, status == PIPELINE_OK || status == PIPELINE_INPUT);
    return status == PIPELINE_OK;
}

static void check_entry(struct trial *trial, const struct entry *entry)
{
    struct entry_launch launch;
    struct sync_outcome outcome;
    const struct graph_model *model = &trial->model;
    CHECK(trial, entry_launch_init(&launch, trial->parsed.module, the_graph(trial), entry));
    for (unsigned nr = 0; nr < model->count; nr++)
        for (unsigned i = 0; i < model->count; i++)
            if (!model->passive[nr] && model->superkernel[nr] == entry->name &&
                graph_model_inner(model, nr) >> i & 1)
                entry_launch_need(&launch, model->id[i], model->id[nr]);
    sync_simulate(&outcome, &launch.sync);
    CHECK(trial, sync_outcome_ok(&outcome));
    CHECK(trial, entry_launch_is_ordered(&launch, &outcome));
    entry_launch_free(&launch);
}

static void check_reordered(struct trial *trial)
{
    struct module *module = trial->parsed.module;
    unsigned rank[MODEL_MAX_OPS];
    bool allowed = true;
    CHECK(trial, graph_model_init(&trial->model, module, the_graph(trial)));
    draw_order(trial, rank);
    for (uint32_t i = 0; i < module->entries.count; i++)
        allowed = reorder(trial, &module->entries.at[i], rank) && allowed;
    bool made = run_passes(trial, "insert-syncs,early-start,preload-code,split-code,feed-sync-all,"
                                  "dcci,debug-sync-all,profile,verify-sync");
    CHECK(trial, made == allowed);
    trial->counts[allowed ? ALLOWED : REFUSED]++;
    if (!made)
        return;
    CHECK(trial, verify_module(module, &trial->parsed.diags));
    for (uint32_t i = 0; i < module->entries.count; i++)
        check_entry(trial, &module->entries.at[i]);
}

static void run_trial(uint64_t seed, const void *user, unsigned *counts)
{
    struct trial *trial = mem_calloc(1, sizeof *trial);
    *trial = (struct trial){.seed = seed, .random = {seed}, .plan = user, .counts = counts};
    random_graph(&trial->text, seed, &trial->plan->options);
    parsed_init(&trial->parsed, trial->text.at, trial->text.size);
    CHECK(trial, trial->parsed.module && verify_module(trial->parsed.module, &trial->parsed.diags));
    trial->context = (struct pass_context){.module = trial->parsed.module,
                                           .diags = &trial->parsed.diags,
                                           .sk_options = trial->plan->sk_options};
    counts[GRAPHS]++;
    /* Without limit-stream-fusion, so that ops of one list are left unordered, too. */
    if (run_passes(trial, "inline-calls,assign-streams,partition-scopes,split-nonfusable,"
                          "insert-events,bind-kernels,lower-superkernels"))
        check_reordered(trial);
    text_free(&trial->text);
    parsed_free(&trial->parsed);
    mem_free(trial);
}

static void run_plan(const struct plan *plan, uint64_t count)
{
    struct random_runs runs = random_runs(count);
    unsigned counts[N_COUNTS] = {0};
    bool ok = parallel_run(runs.seed, runs.count, run_trial, plan, counts, N_COUNTS);
    print_message(
        "# seeds %llu to %llu: %u graphs, %u with allowed orders, %u without; %u entries, "
        "%u in another order\n",
        (unsigned long long)runs.seed, (unsigned long long)(runs.seed + runs.count - 1),
        counts[GRAPHS], counts[ALLOWED], counts[REFUSED], counts[ENTRIES], counts[REORDERED]);
    assert_true(ok);
    assert_true(counts[GRAPHS] < 100 || (counts[ALLOWED] > 0 && counts[REORDERED] > 0));
    assert_true(counts[GRAPHS] < 100 || (counts[REFUSED] > 0) == (plan->swaps > 0));
}

static void test_allowed(void **state)
{
    (void)state;
    run_plan(&(struct plan){.options = {.max_ops = 16,
                                        .memory = true,
                                        .stream_fusion = true,
                                        .options = true,
                                        .dynamic = true}},
             6000);
}

static void test_swapped(void **state)
{
    (void)state;
    run_plan(&(struct plan){.options = {.max_ops = 16, .stream_fusion = true, .dynamic = true},
                            .swaps = 2},
             6000);
}

static void test_full_barriers(void **state)
{
    (void)state;
    run_plan(&(struct plan){.options = {.max_ops = 16, .full_barriers = true},
                            .sk_options = "stream-fusion=1:feed-sync-all=1"},
             3000);
}

/* In one list each op is behind the one that is called before it. */
static void test_one_list(void **state)
{
    (void)state;
    run_plan(&(struct plan){.options = {.max_ops = 12, .early_start = true},
                            .sk_options = "stream-fusion=0"},
             3000);
    run_plan(&(struct plan){.options = {.max_ops = 12, .dynamic = true},
                            .sk_options = "stream-fusion=0:debug-sync-all=1:debug-dcci-all=1"},
             1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allowed),
        cmocka_unit_test(test_swapped),
        cmocka_unit_test(test_full_barriers),
        cmocka_unit_test(test_one_list),
    };
    cmocka_set_test_filter(getenv("SKIR_TEST_FILTER"));
    return cmocka_run_group_tests_name("call orders", tests, NULL, NULL);
}
