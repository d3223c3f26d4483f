/* Operands that kernels read through data caches, on random graphs: the entry is executed by
 * sync_simulator.h with each `dcci` in it as an event of all cores that the next such call
 * includes. A read is stale where one of these does not know, there, that all who wrote the operand
 * before are complete. verify-sync, which executes nothing, must warn of just these reads: of
 * entries as the passes make them, and of those with one `dcci` taken out.
 *
 * SKIR_TEST_SEED and SKIR_TEST_COUNT choose other graphs. */
#include "ir/analysis/modref.h"
#include "ir/syntax/locate.h"
#include "passes/manager/pipeline.h"
#include "tests/unit/entry_launch.h"
#include "tests/unit/parsed_module.h"
#include "tests/unit/random_graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MAX_READS = 2 * RANDOM_MAX_OPS };

/* A call of an op that reads operand 0 through the cache of a core type. */
struct read {
    unsigned op;
    enum core_type core;
    unsigned event; /* the last `dcci` before it, as an op of the launch; NONE */
};

struct trial {
    uint64_t seed;
    struct text text;
    struct parsed_module parsed;
    const struct graph *graph;
    bool reads[RANDOM_MAX_OPS]; /* by op: its kernel reads operand 0 so */
    unsigned *counts;
};

enum { ENTRIES, READS, STALE, CLEANED, TAKEN_OUT, FOUND, N_COUNTS };

#define CHECK(trial, condition) RANDOM_CHECK((trial)->seed, &(trial)->text, condition)

/* ------------------------------------------------------------------------- stale reads ---- */

static void put_event(struct sync_program *program, uint32_t at, struct sync_instr event)
{
    vec_push(program, event);
    memmove(program->at + at + 1, program->at + at, (program->count - 1 - at) * sizeof event);
    program->at[at] = event;
}

static unsigned free_number(const struct sync_launch *sync)
{
    unsigned number = 0;
    for (unsigned core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < sync->programs[core].count; i++)
            if (sync->programs[core].at[i].effect == EFFECT_CALL ||
                sync->programs[core].at[i].effect == EFFECT_EVENT)
                number = number > sync->programs[core].at[i].arg ? number
                                                                 : sync->programs[core].at[i].arg;
    return number + 1;
}

/* Of each such call the event, from the end of each program. */
static unsigned put_events(const struct trial *trial, struct entry_launch *launch,
                           struct read *reads)
{
    unsigned count = 0, number = free_number(&launch->sync);
    for (unsigned core = 0; core < CORE_TYPES; core++) {
        struct sync_program *program = &launch->sync.programs[core];
        struct sync_instr events[MAX_READS];
        uint32_t places[MAX_READS], n_events = 0, n = launch->dcci[core].count;
        for (uint32_t i = program->count; i-- > 0;) {
            struct sync_instr call = program->at[i];
            if (call.effect != EFFECT_CALL || call.arg >= trial->graph->ops.count ||
                !trial->reads[call.arg])
                continue;
            while (n > 0 && launch->dcci[core].at[n - 1] > i)
                n--;
            reads[count++] = (struct read){call.arg, core, n ? number : NONE};
            call.effect = EFFECT_EVENT;
            call.arg = number;
            events[n_events] = call;
            places[n_events] = n ? launch->dcci[core].at[n - 1] : 0;
            number += n > 0;
            n_events += n > 0;
        }
        for (uint32_t i = 0; i < n_events; i++)
            put_event(program, places[i], events[i]);
    }
    return count;
}

static bool are_together(const struct trial *trial, unsigned a, unsigned b)
{
    const struct graph *graph = trial->graph;
    return graph_superkernel(graph, graph->ops.at[a].block) ==
           graph_superkernel(graph, graph->ops.at[b].block);
}

/* Whether an op writes the memory of operand 0 of another one, above it in the text. */
static bool writes_for(const struct trial *trial, const struct memories *memories, unsigned writer,
                       unsigned reader)
{
    const struct module *module = trial->parsed.module;
    const struct graph *graph = trial->graph;
    const struct op *op = &graph->ops.at[writer];
    uint32_t memory = memory_of(memories, op_operands(graph, &graph->ops.at[reader])[0]);
    if (writer >= reader || op_is_passive(module, graph, op))
        return false;
    for (uint32_t i = 0; i < op->results.count; i++)
        if (memory_of(memories, op->results.first + i) == memory &&
            op_alias(module, graph, op, i) == NONE)
            return true;
    for (uint32_t i = 0; i < op->operands.count; i++)
        if (memory_of(memories, op_operands(graph, op)[i]) == memory &&
            op_writes(module, graph, op, op_operands(graph, op)[i]))
            return true;
    return false;
}

static bool is_stale(const struct trial *trial, const struct memories *memories,
                     const struct sync_outcome *outcome, const struct read *read)
{
    for (unsigned i = 0; i < trial->graph->ops.count; i++)
        if (are_together(trial, i, read->op) && writes_for(trial, memories, i, read->op) &&
            (read->event == NONE || !sync_outcome_orders(outcome, i, read->event)))
            return true;
    return false;
}

/* Marks the ops of an entry that read what is stale. */
static void find_stale(struct trial *trial, const struct entry *entry, uint8_t *stale)
{
    struct entry_launch launch;
    struct sync_outcome outcome;
    struct memories memories;
    struct read reads[MAX_READS];
    CHECK(trial, entry_launch_init(&launch, trial->parsed.module, trial->graph, entry));
    unsigned n = put_events(trial, &launch, reads);
    sync_simulate(&outcome, &launch.sync);
    memories_init(&memories, trial->parsed.module, trial->graph);
    for (unsigned i = 0; i < n; i++)
        if (is_stale(trial, &memories, &outcome, &reads[i]))
            stale[reads[i].op] = 1;
    trial->counts[READS] += n;
    memories_free(&memories);
    entry_launch_free(&launch);
}

/* ------------------------------------------------------------------------------ warnings ---- */

static unsigned op_at(const struct trial *trial, uint32_t offset)
{
    const struct graph *graph = trial->graph;
    for (unsigned i = 0; i < graph->ops.count; i++)
        if (locate_op(trial->parsed.module, &graph->ops.at[i], OP_TYPE_NAME, 0).begin == offset)
            return i;
    return NONE;
}

static void find_warned(struct trial *trial, uint8_t *warned)
{
    struct diags diags;
    struct analyses analyses = {.at = NULL};
    diags_init(&diags, &trial->parsed.source, "test.skir");
    struct pass_context context = {
        .module = trial->parsed.module, .diags = &diags, .analyses = &analyses};
    CHECK(trial, pass_verify_sync(&context));
    for (uint32_t i = 0; i < diags.list.count; i++) {
        if (diags.list.at[i].id != DIAG_stale_read)
            continue;
        unsigned op = op_at(trial, diags.list.at[i].span.begin);
        CHECK(trial, op != NONE);
        warned[op] = 1;
    }
    analyses_drop(&analyses);
    diags_free(&diags);
}

/* What others write during the launch may be told by an event. */
static bool is_written_outside(const struct trial *trial, unsigned reader)
{
    struct memories memories;
    bool found = false;
    memories_init(&memories, trial->parsed.module, trial->graph);
    for (unsigned i = 0; i < reader; i++)
        found =
            found || (!are_together(trial, i, reader) && writes_for(trial, &memories, i, reader));
    memories_free(&memories);
    return found;
}

static unsigned compare(struct trial *trial)
{
    const struct module *module = trial->parsed.module;
    uint8_t stale[RANDOM_MAX_OPS] = {0}, warned[RANDOM_MAX_OPS] = {0};
    unsigned count = 0;
    for (uint32_t i = 0; i < module->entries.count; i++)
        find_stale(trial, &module->entries.at[i], stale);
    find_warned(trial, warned);
    for (unsigned i = 0; i < trial->graph->ops.count; i++) {
        CHECK(trial, stale[i] <= warned[i]);
        CHECK(trial, !warned[i] || stale[i] || is_written_outside(trial, i));
        count += stale[i];
    }
    return count;
}

/* -------------------------------------------------------------------------------- trials ---- */

/* Kernels of some ops read operand 0 through the cache. */
static void add_scalar_reads(struct trial *trial, struct random *random)
{
    struct module *module = trial->parsed.module;
    struct attr_value zero = {.kind = ATTR_INT, .i = 0};
    for (uint32_t i = 0; i < module->kernels.count; i++) {
        struct kernel *kernel = &module->kernels.at[i];
        struct attr attrs[32];
        if (kernel->attrs.count >= 31 || random_percent(random, 40))
            continue;
        struct range list = module_add_values(module, &zero, 1);
        memcpy(attrs, module->attrs.at + kernel->attrs.first, kernel->attrs.count * sizeof *attrs);
        attrs[kernel->attrs.count] =
            (struct attr){.key = W_scalar_reads,
                          .loc = NONE,
                          .value = {.kind = ATTR_LIST, .count = 1, .first = list.first}};
        kernel->attrs = module_add_attrs(module, attrs, kernel->attrs.count + 1);
    }
}

static void find_readers(struct trial *trial)
{
    const struct module *module = trial->parsed.module;
    for (unsigned i = 0; i < trial->graph->ops.count; i++) {
        const struct op *op = &trial->graph->ops.at[i];
        const struct kernel *kernel =
            op->kernel == NONE ? NULL : module_find_kernel(module, op->kernel);
        trial->reads[i] =
            kernel && op->operands.count && attr_find(module, kernel->attrs, W_scalar_reads);
    }
}

/* Each `dcci` is taken out in turn. */
static void take_out(struct trial *trial, unsigned stale)
{
    struct module *module = trial->parsed.module;
    for (uint32_t e = 0; e < module->entries.count; e++)
        for (unsigned core = 0; core < CORE_TYPES; core++) {
            struct program *program = &module->entries.at[e].programs[core];
            for (uint32_t i = 0; i < program->instrs.count; i++) {
                if (program->instrs.at[i].op != INSTR_dcci)
                    continue;
                program->instrs.at[i].op = INSTR_preload_all;
                trial->counts[FOUND] += compare(trial) > stale;
                trial->counts[TAKEN_OUT]++;
                program->instrs.at[i].op = INSTR_dcci;
            }
        }
}

static bool run_passes(struct trial *trial, const char *options)
{
    struct pass_context context = {
        .module = trial->parsed.module, .diags = &trial->parsed.diags, .sk_options = options};
    return pipeline_run_list(&context, "default") == PIPELINE_OK;
}

static void run_trial(uint64_t seed, unsigned *counts)
{
    struct random random = {seed * 77 + 5};
    struct random_graph_options options = {.max_ops = 24,
                                           .memory = random_percent(&random, 50),
                                           .stream_fusion = random_percent(&random, 50),
                                           .early_start = random_percent(&random, 50),
                                           .views = random_percent(&random, 50)};
    struct trial *trial = mem_calloc(1, sizeof *trial);
    *trial = (struct trial){.seed = seed, .counts = counts};
    bool cleans = random_percent(&random, 80);
    random_graph(&trial->text, seed, &options);
    parsed_init(&trial->parsed, trial->text.at, trial->text.size);
    assert_non_null(trial->parsed.module);
    add_scalar_reads(trial, &random);
    if (run_passes(trial, cleans ? "dcci-scalar-reads=1" : "dcci-scalar-reads=0")) {
        trial->graph = &trial->parsed.module->graphs.at[0];
        find_readers(trial);
        counts[ENTRIES] += trial->parsed.module->entries.count;
        unsigned stale = compare(trial);
        counts[cleans ? CLEANED : STALE] += stale;
        take_out(trial, stale);
    }
    parsed_free(&trial->parsed);
    text_free(&trial->text);
    mem_free(trial);
}

static void test_stale_reads(void **state)
{
    (void)state;
    unsigned counts[N_COUNTS] = {0};
    struct random_runs runs = random_runs(400);
    for (uint64_t i = 0; i < runs.count; i++)
        run_trial(runs.seed + i, counts);
    print_message(
        "# %u entries, %u reads; stale: %u of those that nobody cleans, %u where the pass "
        "does; %u dcci taken out, %u of them found\n",
        counts[ENTRIES], counts[READS], counts[STALE], counts[CLEANED], counts[TAKEN_OUT],
        counts[FOUND]);
    if (runs.count >= 400) {
        assert_true(counts[STALE] > 10);
        assert_true(counts[FOUND] * 4 > counts[TAKEN_OUT]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stale_reads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
