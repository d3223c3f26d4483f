/* Properties of partition-scopes on random graphs: what a super kernel holds, that the text and the
 * super kernels keep the order, that the order is neither more nor less than before, and that
 * scopes stay whole where they can. The order is computed by graph_model.h, not by
 * ir/analysis/dep_graph.h. */
#include "ir/core/invariants.h"
#include "passes/manager/pipeline.h"
#include "tests/unit/graph_model.h"
#include "tests/unit/parsed_module.h"
#include "tests/unit/random_graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Counts over all graphs, to show what was met. */
struct tally {
    unsigned graphs, whole, split, refused;
};

/* One graph before and after the pass; `name` ids are those of one module. */
struct trial {
    uint64_t seed;
    struct text text;
    struct parsed_module parsed;
    struct graph_model before, after;
};

#define CHECK(trial, condition) RANDOM_CHECK((trial)->seed, &(trial)->text, condition)

static struct graph *the_graph(struct parsed_module *parsed)
{
    return &parsed->module->graphs.at[0];
}

static bool partition(struct parsed_module *parsed)
{
    struct pass_context context = {.module = parsed->module, .diags = &parsed->diags};
    return pipeline_run_list(&context, "partition-scopes") == PIPELINE_OK &&
           module_is_sound(parsed->module);
}

static void trial_init(struct trial *trial, uint64_t seed, const char *text, size_t size)
{
    *trial = (struct trial){.seed = seed};
    text_bytes(&trial->text, text, size);
    parsed_init(&trial->parsed, text, size);
    CHECK(trial, trial->parsed.module && verify_module(trial->parsed.module, &trial->parsed.diags));
    CHECK(trial, graph_model_init(&trial->before, trial->parsed.module, the_graph(&trial->parsed)));
}

static void trial_free(struct trial *trial)
{
    text_free(&trial->text);
    parsed_free(&trial->parsed);
}

/* ------------------------------------------------------------------- the properties ---- */

static const struct block *superkernel_block(struct trial *trial, uint32_t name)
{
    const struct graph *graph = the_graph(&trial->parsed);
    const struct block *found = NULL;
    for (uint32_t i = 0; i < graph->blocks.count; i++) {
        const struct block *block = &graph->blocks.at[i];
        if (block->kind != BLOCK_SUPERKERNEL || block->name != name)
            continue;
        CHECK(trial, !found);
        found = block;
    }
    CHECK(trial, found);
    return found;
}

/* An op of a scope is in a super kernel of that scope, one of a super kernel stays there, and no
 * other op is in one; nor is a passive one, unless it is a view, which may be. */
static void check_members(struct trial *trial)
{
    CHECK(trial, trial->after.count == trial->before.count);
    for (unsigned i = 0; i < trial->after.count; i++) {
        uint32_t superkernel = trial->after.superkernel[i];
        CHECK(trial, trial->after.scope[i] == NONE);
        CHECK(trial, trial->after.stream[i] == trial->before.stream[i]);
        if (trial->before.passive[i] && (!trial->before.view[i] || superkernel == NONE)) {
            CHECK(trial, superkernel == NONE);
            continue;
        }
        if (trial->before.superkernel[i] != NONE || trial->before.scope[i] == NONE) {
            CHECK(trial, superkernel == trial->before.superkernel[i]);
            continue;
        }
        CHECK(trial, superkernel != NONE);
        const struct block *block = superkernel_block(trial, superkernel);
        CHECK(trial,
              attr_symbol(trial->parsed.module, block->attrs, W_scope) == trial->before.scope[i]);
    }
}

static void check_order(struct trial *trial)
{
    const struct graph_model *before = &trial->before, *after = &trial->after;
    for (unsigned i = 0; i < after->count; i++) {
        CHECK(trial, after->needs[i] == before->needs[i]);
        for (unsigned j = 0; j < after->count; j++)
            CHECK(trial, !(before->needs[i] >> j & 1) || after->position[j] < after->position[i]);
    }
    CHECK(trial, graph_model_runs(after));
}

/* Scopes and given super kernels as groups; name ids of scopes and super kernels may be equal. */
static void fusion_groups(const struct graph_model *model, uint32_t *group, bool scopes)
{
    for (unsigned i = 0; i < model->count; i++) {
        group[i] = NONE;
        if (model->passive[i] && !model->view[i])
            continue;
        if (model->superkernel[i] != NONE)
            group[i] = 2 * model->superkernel[i];
        else if (scopes && model->scope[i] != NONE)
            group[i] = 2 * model->scope[i] + 1;
    }
}

static unsigned superkernels_of(const struct trial *trial, uint32_t scope)
{
    unsigned count = 0;
    for (unsigned i = 0; i < trial->after.count; i++) {
        bool first = trial->before.superkernel[i] == NONE && !trial->before.passive[i] &&
                     trial->before.scope[i] == scope;
        for (unsigned j = 0; j < i && first; j++)
            first = trial->after.superkernel[j] != trial->after.superkernel[i] ||
                    trial->before.passive[j];
        count += first;
    }
    return count;
}

static void check_maximal(struct trial *trial, struct tally *tally)
{
    uint32_t group[MODEL_MAX_OPS];
    fusion_groups(&trial->before, group, true);
    if (!graph_model_parallel(&trial->before, group)) {
        tally->split++;
        return;
    }
    tally->whole++;
    for (unsigned i = 0; i < trial->before.count; i++)
        if (trial->before.superkernel[i] == NONE && trial->before.scope[i] != NONE &&
            !trial->before.passive[i])
            CHECK(trial, superkernels_of(trial, trial->before.scope[i]) == 1);
}

/* The result is canonical input, and the pass has nothing to do on it. */
static void check_stable(struct trial *trial)
{
    struct text printed = parsed_print(&trial->parsed, false);
    struct parsed_module again;
    parsed_init(&again, printed.at, printed.size);
    CHECK(trial, again.module && verify_module(again.module, &again.diags));
    struct text second = parsed_print(&again, false);
    CHECK(trial, strcmp(printed.at, second.at) == 0);
    CHECK(trial, partition(&again));
    struct text third = parsed_print(&again, false);
    CHECK(trial, strcmp(printed.at, third.at) == 0);
    text_free(&printed);
    text_free(&second);
    text_free(&third);
    parsed_free(&again);
}

/* A super kernel of the input that cannot be one launch is refused, and nothing else is. */
static void check_refusal(struct trial *trial, struct tally *tally)
{
    uint32_t group[MODEL_MAX_OPS];
    fusion_groups(&trial->before, group, false);
    CHECK(trial, !graph_model_parallel(&trial->before, group));
    CHECK(trial, trial->parsed.diags.counts[SEVERITY_ERROR] > 0);
    tally->refused++;
}

static void run_trial(uint64_t seed, const char *text, size_t size, struct tally *tally)
{
    struct trial trial;
    trial_init(&trial, seed, text, size);
    tally->graphs++;
    if (partition(&trial.parsed)) {
        CHECK(&trial, verify_module(trial.parsed.module, &trial.parsed.diags));
        CHECK(&trial,
              graph_model_init(&trial.after, trial.parsed.module, the_graph(&trial.parsed)));
        check_members(&trial);
        check_order(&trial);
        check_maximal(&trial, tally);
        check_stable(&trial);
    } else {
        check_refusal(&trial, tally);
    }
    trial_free(&trial);
}

/* ------------------------------------------------------------------------- the tests ---- */

static void run_random(const struct random_graph_options *options, struct tally *tally,
                       uint64_t count)
{
    struct random_runs runs = random_runs(count);
    for (uint64_t i = 0; i < runs.count; i++) {
        struct text text = {NULL, 0, 0};
        random_graph(&text, runs.seed + i, options);
        run_trial(runs.seed + i, text.at, text.size, tally);
        text_free(&text);
    }
    print_message("# %u graphs: %u with whole scopes, %u split, %u refused\n", tally->graphs,
                  tally->whole, tally->split, tally->refused);
    if (runs.count < 1000)
        return;
    assert_true(tally->whole > runs.count / 10);
    assert_true(tally->split > runs.count / 20);
}

static void test_small_graphs(void **state)
{
    (void)state;
    struct tally tally = {0, 0, 0, 0};
    run_random(&(struct random_graph_options){.max_ops = 10, .memory = true}, &tally, 4000);
    assert_int_equal(tally.refused, 0);
}

static void test_large_graphs(void **state)
{
    (void)state;
    struct tally tally = {0, 0, 0, 0};
    run_random(&(struct random_graph_options){.max_ops = 48, .stream_fusion = true}, &tally, 1000);
    assert_int_equal(tally.refused, 0);
}

/* What passive ops conduct splits scopes as all order does. */
static void test_passive_ops(void **state)
{
    (void)state;
    struct tally tally = {0, 0, 0, 0};
    run_random(
        &(struct random_graph_options){.max_ops = 20, .stream_fusion = true, .passive = true},
        &tally, 2000);
    assert_int_equal(tally.refused, 0);
}

/* Views are part of super kernels, and what they conduct splits scopes, too. */
static void test_views(void **state)
{
    (void)state;
    struct tally tally = {0, 0, 0, 0};
    run_random(&(struct random_graph_options){.max_ops = 20, .memory = true, .views = true}, &tally,
               2000);
    assert_int_equal(tally.refused, 0);
}

/* Super kernels of the input are kept whole, if need be at the cost of a scope. */
static void test_given_superkernels(void **state)
{
    (void)state;
    struct tally tally = {0, 0, 0, 0};
    run_random(&(struct random_graph_options){.max_ops = 12, .superkernels = true, .memory = true},
               &tally, 3000);
}

/* Scope @a needs an op outside that needs @a: two super kernels, and no third. */
static void test_split_by_outsider(void **state)
{
    (void)state;
    static const char text[] =
        "skir 1\nkernel @k : aiv_only {block = 1}\n"
        "graph @g(%p: f32[8]) -> () {\n"
        "scope @a { %x = A(%p) {nr = 0} : f32[8] via @k }\n"
        "%y = B(%x) {nr = 1} : f32[8] via @k\n"
        "scope @a { %z = C(%y) {nr = 2} : f32[8] via @k\n"
        "scope none { stream \"1\" { %u = D(%z) {nr = 3} : f32[8] via @k } } } }\n";
    struct tally tally = {0, 0, 0, 0};
    run_trial(0, text, strlen(text), &tally);
    assert_int_equal(tally.split, 1);
}

static void test_refused_superkernel(void **state)
{
    (void)state;
    static const char text[] = "skir 1\nkernel @k : aiv_only {block = 1}\n"
                               "graph @g(%p: f32[8]) -> () {\n"
                               "superkernel @a {\n%x = A(%p) {nr = 0} : f32[8] via @k\n"
                               "stream \"1\" { %z = C(%p) {nr = 1} : f32[8] via @k recv [e] } }\n"
                               "%y = B(%x) {nr = 2} : f32[8] via @k send [e] }\n";
    struct tally tally = {0, 0, 0, 0};
    run_trial(0, text, strlen(text), &tally);
    assert_int_equal(tally.refused, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_graphs),
        cmocka_unit_test(test_large_graphs),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_passive_ops),
        cmocka_unit_test(test_given_superkernels),
        cmocka_unit_test(test_split_by_outsider),
        cmocka_unit_test(test_refused_superkernel),
    };
    return cmocka_run_group_tests_name("partition", tests, NULL, NULL);
}
