/* Properties of how scopes are cut, on random graphs: there are never more launches than the rule
 * of a deployed compiler makes where its launches can run one after the other; no fewer are
 * possible on small graphs, nor with fewer scopes broken; and strict-scope-check=abort refuses only
 * what cannot be. What can be is found without the code of passes (cut_model.h, graph_model.h). */
#include "passes/manager/pipeline.h"
#include "passes/partition/reference_cuts.h"
#include "tests/unit/cut_model.h"
#include "tests/unit/parsed_module.h"
#include "tests/unit/random_graph.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Counts over all graphs, to show what was met. */
struct tally {
    unsigned graphs, cut, rings, beside, fewer, equal;
};

struct trial {
    uint64_t seed;
    struct text text;
    struct parsed_module parsed;
    struct graph_model before, after;
    struct cut_model cuts;
};

#define CHECK(trial, condition) RANDOM_CHECK((trial)->seed, &(trial)->text, condition)

static void trial_init(struct trial *trial, uint64_t seed,
                       const struct random_graph_options *options)
{
    *trial = (struct trial){.seed = seed};
    random_graph(&trial->text, seed, options);
    parsed_init(&trial->parsed, trial->text.at, trial->text.size);
    struct module *module = trial->parsed.module;
    CHECK(trial, module && verify_module(module, &trial->parsed.diags));
    CHECK(trial, graph_model_init(&trial->before, module, &module->graphs.at[0]));
    cut_model_init(&trial->cuts, &trial->before, module, &module->graphs.at[0]);
}

static void trial_free(struct trial *trial)
{
    text_free(&trial->text);
    parsed_free(&trial->parsed);
}

static bool run_passes(struct trial *trial, struct pass_context context)
{
    context.module = trial->parsed.module;
    context.diags = &trial->parsed.diags;
    if (pipeline_run_list(&context, "partition-scopes,split-nonfusable") != PIPELINE_OK)
        return false;
    CHECK(trial, verify_module(context.module, context.diags));
    CHECK(trial, graph_model_init(&trial->after, context.module, &context.module->graphs.at[0]));
    return true;
}

/* Super kernels that execute something, by the first op of each. */
static unsigned count_launches(const struct trial *trial, uint32_t scope)
{
    unsigned count = 0;
    for (unsigned i = 0; i < trial->after.count; i++) {
        const uint32_t *superkernel = trial->after.superkernel;
        bool first = superkernel[i] != NONE && !trial->before.passive[i] &&
                     (scope == NONE || trial->before.scope[i] == scope);
        for (unsigned j = 0; j < i && first; j++)
            first = superkernel[j] != superkernel[i] || trial->before.passive[j];
        count += first;
    }
    return count;
}

/* What was required is: the text and the launches keep it. */
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

/* Whether each group can be one launch, beside which others run. */
static bool can_be_rings(const struct graph_model *model, const uint32_t *group)
{
    return graph_model_parallel(model, group);
}

/* ------------------------------------------------------------ against the other rule ---- */

static void compare_launches(struct trial *trial, struct tally *tally)
{
    unsigned ours, theirs = trial->cuts.launches;
    CHECK(trial, run_passes(trial, (struct pass_context){.module = NULL}));
    check_order(trial);
    ours = count_launches(trial, NONE);
    tally->graphs++;
    for (unsigned i = 0; i < trial->before.count; i++)
        if (trial->cuts.cut[i]) {
            tally->cut++;
            break;
        }
    if (!graph_model_contracts(&trial->before, trial->cuts.group)) {
        bool beside = can_be_rings(&trial->before, trial->cuts.group);
        tally->rings += !beside;
        tally->beside += beside;
        if (!beside)
            return;
    }
    CHECK(trial, ours <= theirs);
    tally->fewer += ours < theirs;
    tally->equal += ours == theirs;
}

static const struct random_graph_options kinds[] = {
    {.max_ops = 16, .stream_fusion = true, .unfusable = true},
    {.max_ops = 30, .stream_fusion = true, .unfusable = true, .memory = true, .passive = true},
    {.max_ops = 48, .stream_fusion = true, .views = true, .passive = true},
    {.max_ops = 64, .stream_fusion = true, .unfusable = true},
};

enum { N_KINDS = sizeof kinds / sizeof *kinds };

static void test_never_more(void **state)
{
    (void)state;
    struct tally tally = {0, 0, 0, 0, 0, 0};
    struct random_runs runs = random_runs(1600);
    for (uint64_t i = 0; i < runs.count; i++) {
        struct trial trial;
        trial_init(&trial, runs.seed + i, &kinds[(runs.seed + i) % N_KINDS]);
        compare_launches(&trial, &tally);
        trial_free(&trial);
    }
    print_message("# %u graphs: %u cut by the other rule, %u of its launches in a ring that "
                  "cannot run, %u in one that can; of these and those without rings %u with fewer "
                  "launches, %u with as many\n",
                  tally.graphs, tally.cut, tally.rings, tally.beside, tally.fewer, tally.equal);
    if (runs.count >= 1000)
        assert_true(tally.fewer > runs.count / 100 && tally.equal > runs.count / 5 &&
                    tally.beside > runs.count / 100);
}

/* ----------------------------------------------------------------- the other rule itself ---- */

/* The rule alone, also where its launches are a ring. */
static void check_rule(struct trial *trial)
{
    const struct module *module = trial->parsed.module;
    const struct graph_model *model = &trial->before;
    uint32_t scope_of[MODEL_MAX_OPS], names[MODEL_MAX_OPS], n_scopes = 1;
    uint8_t roles[MODEL_MAX_OPS];
    struct reference_cuts cuts;
    struct order order;
    for (unsigned i = 0; i < model->count; i++) {
        uint32_t op = model->id[i], scope = 0;
        if (model->scope[i] != NONE)
            for (scope = 1; scope < n_scopes && names[scope] != model->scope[i];)
                scope++;
        if (scope == n_scopes)
            names[n_scopes++] = model->scope[i];
        scope_of[op] = scope;
        roles[op] = model->passive[i] && !model->view[i] ? CUT_IGNORED
                    : trial->cuts.unfusable[i]           ? CUT_OTHER
                                                         : CUT_MEMBER;
    }
    order_init(&order, module, &module->graphs.at[0]);
    reference_cuts_init(&cuts, &order, scope_of, n_scopes, roles, 0);
    for (unsigned i = 0; i < model->count; i++) {
        uint32_t part = cuts.part[model->id[i]];
        CHECK(trial, cuts.position[model->id[i]] == trial->cuts.rank[i]);
        CHECK(trial, (part == NONE) == (trial->cuts.group[i] == NONE));
        if (part == NONE)
            continue;
        CHECK(trial, part == cuts.part[model->id[trial->cuts.group[i]]]);
        CHECK(trial, cuts.parts.at[part].is_cut == trial->cuts.cut[i]);
        CHECK(trial, cuts.parts.at[part].begin == (int)trial->cuts.begin[i]);
        CHECK(trial, cuts.parts.at[part].end == (int)trial->cuts.end[i]);
        for (unsigned j = 0; j < i; j++)
            CHECK(trial, (part == cuts.part[model->id[j]]) ==
                             (trial->cuts.group[i] == trial->cuts.group[j]));
    }
    reference_cuts_free(&cuts);
    order_free(&order);
}

static bool has_name(const struct trial *trial, uint32_t superkernel, unsigned i)
{
    const struct module *module = trial->parsed.module;
    char name[64] = "sk_";
    const struct intern_name *scope = &module->names.names[trial->before.scope[i]];
    size_t size = 3 + scope->size;
    memcpy(name + 3, scope->text, scope->size);
    unsigned begin = trial->cuts.begin[i], params = module->graphs.at[0].n_params;
    if (trial->cuts.cut[i])
        size += (size_t)snprintf(name + size, sizeof name - size, "_split_%d_%d",
                                 (int)(begin + params), (int)(trial->cuts.end[i] + params));
    size += (size_t)snprintf(name + size, sizeof name - size, "_start_");
    const struct intern_name *given = &module->names.names[superkernel];
    return given->size > size && memcmp(given->text, name, size) == 0;
}

/* What becomes of the module: those super kernels, under their names; or, where they are a ring, as
 * many more as have to be, with a warning. */
static void check_partition(struct trial *trial, struct tally *tally)
{
    bool ring = !graph_model_contracts(&trial->before, trial->cuts.group);
    bool beside = ring && can_be_rings(&trial->before, trial->cuts.group);
    ring = ring && !beside;
    CHECK(trial, run_passes(trial, (struct pass_context){.reference_partition = true,
                                                         .reference_names = true}));
    check_order(trial);
    /* Views leave parts, which may be enough. */
    CHECK(trial, ring || !diags_have(&trial->parsed.diags, DIAG_partition_differs));
    ring = diags_have(&trial->parsed.diags, DIAG_partition_differs);
    tally->graphs++;
    tally->rings += ring;
    tally->beside += beside;
    tally->equal += !ring;
    for (unsigned i = 0; i < trial->before.count; i++) {
        const struct graph_model *before = &trial->before, *after = &trial->after;
        bool launched = !before->passive[i] && trial->cuts.group[i] != NONE;
        if (!before->passive[i])
            CHECK(trial, (after->superkernel[i] == NONE) == !launched);
        CHECK(trial, !launched || ring || has_name(trial, after->superkernel[i], i));
        for (unsigned j = 0; j < i; j++) {
            if (!launched || before->passive[j] || trial->cuts.group[j] == NONE)
                continue;
            bool same = after->superkernel[i] == after->superkernel[j];
            bool theirs = trial->cuts.group[i] == trial->cuts.group[j];
            CHECK(trial, ring ? !same || theirs : same == theirs);
        }
    }
}

static void test_reference(void **state)
{
    (void)state;
    struct tally tally = {0, 0, 0, 0, 0, 0};
    struct random_runs runs = random_runs(1600);
    for (uint64_t i = 0; i < runs.count; i++) {
        struct trial trial;
        trial_init(&trial, runs.seed + i, &kinds[(runs.seed + i) % N_KINDS]);
        check_rule(&trial);
        check_partition(&trial, &tally);
        trial_free(&trial);
    }
    print_message(
        "# %u graphs: all cut alike; super kernels alike in %u, %u of them with rings; in %u a "
        "ring is cut besides\n",
        tally.graphs, tally.equal, tally.beside, tally.rings);
}

/* ------------------------------------------------------------------- what is possible ---- */

enum { MAX_SCOPES = 8 };

/* Scopes as groups 0, 1 ...; ops that execute nothing are in none. */
static uint32_t number_scopes(const struct graph_model *model, uint32_t *group, uint32_t *names)
{
    uint32_t count = 0;
    for (unsigned i = 0; i < model->count; i++) {
        group[i] = NONE;
        if (model->scope[i] == NONE || model->passive[i])
            continue;
        for (group[i] = 0; group[i] < count && names[group[i]] != model->scope[i];)
            group[i]++;
        if (group[i] == count)
            names[count++] = model->scope[i];
    }
    return count;
}

static unsigned count_ones(uint32_t set)
{
    unsigned count = 0;
    for (; set; set &= set - 1)
        count++;
    return count;
}

/* Launches that others run beside may make it fewer. */
static void check_fewest(struct trial *trial, struct tally *tally)
{
    uint32_t group[MODEL_MAX_OPS], names[MAX_SCOPES], broken = 0;
    uint32_t n = number_scopes(&trial->before, group, names);
    CHECK(trial, run_passes(trial, (struct pass_context){.module = NULL}));
    unsigned launches = count_launches(trial, NONE);
    unsigned fewest = fewest_launches(&trial->before, group, n, 0);
    bool beside = launches < fewest;
    tally->graphs++;
    tally->cut += launches > n;
    tally->beside += beside;
    CHECK(trial, launches <= fewest);
    CHECK(trial, launches == n || !can_be_rings(&trial->before, group));
    check_order(trial);
    for (uint32_t i = 0; i < n; i++)
        broken |= (uint32_t)(count_launches(trial, names[i]) > 1) << i;
    for (uint32_t whole = 0; whole < 1u << n && !beside; whole++)
        if (n - count_ones(whole) < count_ones(broken))
            CHECK(trial, fewest_launches(&trial->before, group, n, whole) > launches);
}

static void test_fewest(void **state)
{
    (void)state;
    struct tally tally = {0, 0, 0, 0, 0, 0};
    struct random_runs runs = random_runs(1500);
    for (uint64_t i = 0; i < runs.count; i++) {
        struct trial trial;
        trial_init(&trial, runs.seed + i,
                   &(struct random_graph_options){.max_ops = 12, .memory = i & 1});
        check_fewest(&trial, &tally);
        trial_free(&trial);
    }
    print_message("# %u graphs: %u cut, %u with rings\n", tally.graphs, tally.cut, tally.beside);
    if (runs.count >= 1000)
        assert_true(tally.cut > runs.count / 20 && tally.beside > runs.count / 100);
}

/* ------------------------------------------------------------------------------ abort ---- */

/* Gives the blocks of some scopes an option. */
static void set_options(struct trial *trial, const uint32_t *names, uint32_t n, uint32_t chosen,
                        const char *text)
{
    struct module *module = trial->parsed.module;
    struct graph *graph = &module->graphs.at[0];
    struct attr attr = {module_name_printf(module, "options"), NONE, {.kind = ATTR_STRING}};
    attr.value.id = module_name_printf(module, "%s", text);
    for (uint32_t b = 0; b < graph->blocks.count; b++)
        for (uint32_t i = 0; i < n; i++)
            if ((chosen >> i & 1) && graph->blocks.at[b].kind == BLOCK_SCOPE &&
                graph->blocks.at[b].name == names[i])
                graph->blocks.at[b].attrs = module_add_attrs(module, &attr, 1);
}

/* Scopes that must stay whole do if and only if that is possible at all: if it is where no other
 * scope is fused. */
static void check_abort(struct trial *trial, struct tally *tally)
{
    uint32_t group[MODEL_MAX_OPS], names[MAX_SCOPES];
    uint32_t n = number_scopes(&trial->before, group, names);
    if (n == 0)
        return;
    uint32_t strict = 1 + (uint32_t)(trial->seed * 7 % ((1u << n) - 1));
    for (unsigned i = 0; i < trial->before.count; i++)
        if (group[i] != NONE && !(strict >> group[i] & 1))
            group[i] = NONE;
    set_options(trial, names, n, strict, "stream-fusion=1:strict-scope-check=abort");
    bool possible =
        graph_model_contracts(&trial->before, group) || can_be_rings(&trial->before, group);
    bool done = run_passes(trial, (struct pass_context){.module = NULL});
    tally->graphs++;
    tally->cut += !possible;
    CHECK(trial, done || !possible);
    for (uint32_t i = 0; i < n && done; i++)
        CHECK(trial, !(strict >> i & 1) || count_launches(trial, names[i]) == 1);
}

static void test_abort(void **state)
{
    (void)state;
    struct tally tally = {0, 0, 0, 0, 0, 0};
    struct random_runs runs = random_runs(2000);
    for (uint64_t i = 0; i < runs.count; i++) {
        struct trial trial;
        trial_init(&trial, runs.seed + i,
                   &(struct random_graph_options){.max_ops = 24, .stream_fusion = true});
        check_abort(&trial, &tally);
        trial_free(&trial);
    }
    print_message("# %u graphs: %u refused\n", tally.graphs, tally.cut);
    if (runs.count >= 1000)
        assert_true(tally.cut > runs.count / 20 && tally.cut < runs.count * 19 / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_never_more),
        cmocka_unit_test(test_reference),
        cmocka_unit_test(test_fewest),
        cmocka_unit_test(test_abort),
    };
    return cmocka_run_group_tests_name("scope cuts", tests, NULL, NULL);
}
