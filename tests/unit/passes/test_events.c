/* Properties of the passes up to insert-events, and up to limit-residency, on random graphs: super
 * kernels hold the ops that they should; what launches, streams and events enforce is all that the
 * graph demands; no event can be dropped; the ends of super kernels have none; and a target needs
 * as many words for outer events as there are, where a word is used again only when its last use is
 * over. What is enforced is computed here, from the text that the passes leave; what is demanded by
 * graph_model.h, from the text before.
 *
 * As long as launches may be rearranged, the text says all that the graph demands without them, by
 * no `after` that could be left out. */
#include "passes/manager/pipeline.h"
#include "passes/partition/fusable.h"
#include "passes/residency/limit_residency.h"
#include "passes/transform/events/insert_events.h"
#include "tests/unit/graph_model.h"
#include "tests/unit/parsed_module.h"
#include "tests/unit/random_graph.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_EVENTS = 512 };

/* An event: the ops of which all must be complete, and the ops that wait. Sets of op numbers. */
struct event {
    uint32_t name;
    uint64_t from, to;
    bool sent_by_launch, received_by_launch;
};

struct trial {
    uint64_t seed;
    struct text text;
    struct parsed_module parsed;
    struct graph_model before, after;
    uint32_t launch_stream[MODEL_MAX_OPS]; /* by op number: the stream of its launch */
    uint64_t launch[MODEL_MAX_OPS];        /* by op number: the ops of its launch */
    struct event events[MAX_EVENTS];
    unsigned n_events;
    uint64_t after_of[MODEL_MAX_OPS]; /* by op number: whom its `after` names */
    bool limited;                     /* behind limit-residency */
};

#define CHECK(trial, condition) RANDOM_CHECK((trial)->seed, &(trial)->text, condition)

static struct graph *the_graph(struct trial *trial)
{
    return &trial->parsed.module->graphs.at[0];
}

static uint64_t bit(unsigned number)
{
    return UINT64_C(1) << number;
}

/* ------------------------------------------------------------------ reading the result ---- */

static void find_launches(struct trial *trial)
{
    const struct graph *graph = the_graph(trial);
    for (unsigned i = 0; i < trial->after.count; i++) {
        uint32_t block = graph_superkernel(graph, graph->ops.at[trial->after.id[i]].block);
        trial->launch_stream[i] =
            block == NONE
                ? trial->after.stream[i]
                : attr_string(trial->parsed.module, graph->blocks.at[block].attrs, W_stream);
        trial->launch[i] = bit(i);
        for (unsigned j = 0; block != NONE && j < trial->after.count; j++)
            if (trial->after.superkernel[j] == trial->after.superkernel[i] &&
                !trial->after.passive[j])
                trial->launch[i] |= bit(j);
    }
}

static struct event *event_named(struct trial *trial, uint32_t name)
{
    for (unsigned i = 0; i < trial->n_events; i++)
        if (trial->events[i].name == name)
            return &trial->events[i];
    CHECK(trial, trial->n_events < MAX_EVENTS);
    trial->events[trial->n_events] = (struct event){.name = name};
    return &trial->events[trial->n_events++];
}

static unsigned number_of(const struct trial *trial, uint32_t op)
{
    unsigned i = 0;
    while (trial->after.id[i] != op)
        i++;
    return i;
}

static void read_ops(struct trial *trial)
{
    const struct graph *graph = the_graph(trial);
    for (unsigned i = 0; i < trial->after.count; i++) {
        const struct clauses *clauses = op_clauses(graph, &graph->ops.at[trial->after.id[i]]);
        for (uint32_t n = 0; n < clauses->after.count; n++) {
            uint32_t value = graph->refs.at[clauses->after.first + n];
            trial->after_of[i] |= bit(number_of(trial, graph->values.at[value].def));
        }
        for (uint32_t n = 0; n < clauses->send.count; n++)
            event_named(trial, graph->refs.at[clauses->send.first + n])->from |= bit(i);
        for (uint32_t n = 0; n < clauses->recv.count; n++)
            event_named(trial, graph->refs.at[clauses->recv.first + n])->to |= bit(i);
    }
}

static uint64_t ops_of(const struct trial *trial, uint32_t superkernel)
{
    uint64_t ops = 0;
    for (unsigned i = 0; i < trial->after.count; i++)
        if (trial->after.superkernel[i] == superkernel && !trial->after.passive[i])
            ops |= bit(i);
    return ops;
}

static void read_block(struct trial *trial, const struct block *block, uint32_t key)
{
    bool send = key == W_send;
    struct range events = send ? block->send : block->recv;
    for (uint32_t n = 0; n < events.count; n++) {
        struct event *event = event_named(trial, the_graph(trial)->refs.at[events.first + n]);
        *(send ? &event->from : &event->to) |= ops_of(trial, block->name);
        *(send ? &event->sent_by_launch : &event->received_by_launch) = true;
    }
}

static uint64_t passive_ops(const struct graph_model *model)
{
    uint64_t ops = 0;
    for (unsigned i = 0; i < model->count; i++)
        if (model->passive[i])
            ops |= bit(i);
    return ops;
}

static void read_events(struct trial *trial)
{
    const struct graph *graph = the_graph(trial);
    read_ops(trial);
    for (uint32_t i = 0; i < graph->blocks.count; i++)
        if (graph->blocks.at[i].kind == BLOCK_SUPERKERNEL) {
            read_block(trial, &graph->blocks.at[i], W_send);
            read_block(trial, &graph->blocks.at[i], W_recv);
        }
    for (unsigned i = 0; i < trial->n_events; i++) {
        uint64_t ends = trial->events[i].from | trial->events[i].to;
        CHECK(trial, trial->events[i].from && trial->events[i].to);
        CHECK(trial, !(ends & passive_ops(&trial->after)));
    }
}

/* ---------------------------------------------------------------------- what is enforced ---- */

/* Whether op a is complete before op b starts without any event. */
static bool follows(const struct trial *trial, unsigned a, unsigned b)
{
    if (trial->after.position[a] >= trial->after.position[b] || trial->after.passive[a] ||
        trial->after.passive[b])
        return false;
    if (trial->launch[a] & bit(b))
        return trial->after.stream[a] == trial->after.stream[b];
    return trial->launch_stream[a] == trial->launch_stream[b];
}

/* By op number: what is complete before it starts, with all events but `dropped`. The text is a
 * topological order of it. */
static void enforce(const struct trial *trial, unsigned dropped, uint64_t *enforced)
{
    unsigned at[MODEL_MAX_OPS];
    for (unsigned i = 0; i < trial->after.count; i++)
        at[trial->after.position[i]] = i;
    for (unsigned n = 0; n < trial->after.count; n++) {
        unsigned op = at[n];
        uint64_t direct = 0;
        for (unsigned i = 0; i < trial->after.count; i++)
            if (follows(trial, i, op))
                direct |= bit(i);
        for (unsigned e = 0; e < trial->n_events; e++)
            if (e != dropped && trial->events[e].to & bit(op))
                direct |= trial->events[e].from;
        enforced[op] = direct;
        for (unsigned i = 0; i < trial->after.count; i++)
            if (direct & bit(i))
                enforced[op] |= enforced[i];
    }
}

/* Passive ops are complete when what they need is: what they conduct is in what others need. */
static bool is_enough(const struct trial *trial, const uint64_t *enforced)
{
    uint64_t passive = passive_ops(&trial->before);
    for (unsigned i = 0; i < trial->before.count; i++)
        if (!trial->before.passive[i] && trial->before.needs[i] & ~passive & ~enforced[i])
            return false;
    return true;
}

/* Whether no other order implies that of an `after`. */
static bool is_needed(const struct trial *trial, unsigned op, unsigned named)
{
    uint64_t through = trial->after.direct[op] & ~bit(named);
    for (unsigned i = 0; i < trial->after.count; i++)
        if (through & bit(i) && trial->after.needs[i] & bit(named))
            return false;
    return true;
}

/* What is demanded is without launches that run one after the other: by the text alone. */
static void check_told(struct trial *trial)
{
    uint64_t passive = passive_ops(&trial->before);
    for (unsigned i = 0; i < trial->before.count; i++) {
        uint64_t needed = trial->before.passive[i] ? 0 : trial->before.needs[i] & ~passive;
        CHECK(trial, !(needed & ~trial->after.needs[i]));
        for (unsigned j = 0; j < trial->before.count; j++)
            CHECK(trial, !(trial->after_of[i] & bit(j)) || is_needed(trial, i, j));
    }
}

/* ------------------------------------------------------------------------- properties ---- */

/* An outer event may not begin at the last op of a super kernel or end at its first. */
static void check_ends(struct trial *trial, const struct event *event)
{
    for (unsigned i = 0; i < trial->after.count; i++) {
        uint64_t launch = trial->launch[i];
        if (trial->after.superkernel[i] == NONE)
            continue;
        bool first = true, last = true;
        for (unsigned j = 0; j < trial->after.count; j++)
            if (launch & bit(j)) {
                first = first && trial->after.position[i] <= trial->after.position[j];
                last = last && trial->after.position[i] >= trial->after.position[j];
            }
        bool outer = !(event->from & launch) || !(event->to & launch);
        CHECK(trial, !(outer && first && event->to == bit(i) && !event->received_by_launch &&
                       launch != bit(i)));
        CHECK(trial, !(outer && last && event->from == bit(i) && !event->sent_by_launch &&
                       launch != bit(i)));
    }
}

/* Each op of a scope that can be fused is in one super kernel, of that scope; no other op is in one
 * that was not before; and super kernels as nodes make no cycle. */
static void check_cover(struct trial *trial)
{
    const struct module *module = trial->parsed.module;
    const struct graph *graph = the_graph(trial);
    for (unsigned i = 0; i < trial->after.count; i++) {
        const struct op *op = &graph->ops.at[trial->after.id[i]];
        bool fusable = op_fusable(module, graph, op) == FUSABLE;
        bool marked = trial->before.scope[i] != NONE || trial->before.superkernel[i] != NONE;
        /* A part of nothing but views is no super kernel. */
        CHECK(trial, (trial->after.superkernel[i] != NONE) == (marked && fusable) ||
                         (trial->after.view[i] && trial->after.superkernel[i] == NONE));
        if (trial->after.superkernel[i] == NONE || trial->before.superkernel[i] != NONE)
            continue;
        uint32_t block = graph_superkernel(graph, op->block);
        CHECK(trial, attr_symbol(module, graph->blocks.at[block].attrs, W_scope) ==
                         trial->before.scope[i]);
    }
    CHECK(trial, graph_model_runs(&trial->after));
}

/* ------------------------------------------------------------------- words of memory ---- */

static unsigned position_of(const struct trial *trial, uint64_t ops)
{
    unsigned last = 0;
    for (unsigned i = 0; i < trial->after.count; i++)
        if (ops & bit(i) && trial->after.position[i] > last)
            last = trial->after.position[i];
    return last;
}

static unsigned first_of(const struct trial *trial, uint64_t ops)
{
    unsigned first = UINT_MAX;
    for (unsigned i = 0; i < trial->after.count; i++)
        if (ops & bit(i) && trial->after.position[i] < first)
            first = trial->after.position[i];
    return first;
}

/* The ops that must be complete before a word that the event has used may be used again: those of
 * the launch that waited. */
static uint64_t over_with(const struct trial *trial, const struct event *event)
{
    uint64_t over = event->to;
    for (unsigned i = 0; i < trial->after.count; i++)
        if (event->to & bit(i))
            over |= trial->launch[i];
    return over;
}

static bool is_outer(const struct trial *trial, const struct event *event)
{
    return !(event->from & over_with(trial, event));
}

/* Whoever sends an event, of a launch its last op, knows that the use before is over. */
static bool may_follow(const struct trial *trial, const struct event *before,
                       const struct event *event, const uint64_t *enforced)
{
    for (unsigned i = 0; i < trial->after.count; i++)
        if (trial->after.position[i] == position_of(trial, event->from))
            return !(over_with(trial, before) & ~enforced[i]);
    return false;
}

/* Events in the order of those who send, then of those who wait. */
static int compare_events(const struct trial *trial, const struct event *a, const struct event *b)
{
    unsigned x = position_of(trial, a->from), y = position_of(trial, b->from);
    if (x == y) {
        x = first_of(trial, a->to);
        y = first_of(trial, b->to);
    }
    return x < y ? -1 : x > y;
}

static void sort_events(struct trial *trial)
{
    for (unsigned i = 1; i < trial->n_events; i++)
        for (unsigned j = i;
             j > 0 && compare_events(trial, &trial->events[j], &trial->events[j - 1]) < 0; j--) {
            struct event event = trial->events[j];
            trial->events[j] = trial->events[j - 1];
            trial->events[j - 1] = event;
        }
}

/* How many words of memory the outer events need: each takes the first that is free. */
static unsigned count_words(struct trial *trial, const uint64_t *enforced)
{
    const struct event *last[MAX_EVENTS];
    unsigned count = 0, word;
    sort_events(trial);
    for (unsigned i = 0; i < trial->n_events; i++) {
        const struct event *event = &trial->events[i];
        if (!is_outer(trial, event))
            continue;
        for (word = 0; word < count; word++)
            if (may_follow(trial, last[word], event, enforced))
                break;
        count += word == count;
        last[word] = event;
    }
    return count;
}

struct tally {
    unsigned graphs, refused, events, outer, words, afters, limited, unfused;
};

static bool run_passes(struct parsed_module *parsed)
{
    struct pass_context context = {.module = parsed->module, .diags = &parsed->diags};
    return pipeline_run_list(&context, "assign-streams..bind-kernels") == PIPELINE_OK;
}

/* Whether a target that has so many words has enough. */
static bool is_enough_words(const struct trial *trial, unsigned words)
{
    struct parsed_module parsed;
    parsed_init(&parsed, trial->text.at, trial->text.size);
    struct module *module = parsed.module;
    struct target *target = &module->targets.at[0];
    struct attr attrs[8] = {{W_events, NONE, {.kind = ATTR_INT, .i = words}}};
    for (uint32_t i = 0; i < target->attrs.count; i++)
        attrs[i + 1] = module->attrs.at[target->attrs.first + i];
    target->attrs = module_add_attrs(module, attrs, target->attrs.count + 1);
    bool ok = run_passes(&parsed);
    parsed_free(&parsed);
    return ok;
}

static unsigned check_words(struct trial *trial, const uint64_t *enforced)
{
    unsigned words = count_words(trial, enforced);
    CHECK(trial, is_enough_words(trial, words));
    CHECK(trial, words == 0 || !is_enough_words(trial, words - 1));
    return words;
}

static void check_trial(struct trial *trial, struct tally *tally)
{
    uint64_t enforced[MODEL_MAX_OPS], fewer[MODEL_MAX_OPS];
    CHECK(trial, verify_module(trial->parsed.module, &trial->parsed.diags));
    CHECK(trial, graph_model_init(&trial->after, trial->parsed.module, the_graph(trial)));
    if (!trial->limited)
        check_cover(trial);
    find_launches(trial);
    read_events(trial);
    for (unsigned i = 0; i < trial->after.count; i++)
        CHECK(trial, !trial->after_of[i]);
    enforce(trial, MAX_EVENTS, enforced);
    CHECK(trial, is_enough(trial, enforced));
    for (unsigned i = 0; i < trial->n_events; i++) {
        enforce(trial, i, fewer);
        CHECK(trial, trial->limited || !is_enough(trial, fewer));
        check_ends(trial, &trial->events[i]);
        tally->outer += is_outer(trial, &trial->events[i]);
    }
    tally->events += trial->n_events;
    tally->words += trial->limited ? 0 : check_words(trial, enforced);
}

/* What the text says as long as launches may be rearranged. */
static void check_text(struct trial *trial, struct tally *tally)
{
    CHECK(trial, verify_module(trial->parsed.module, &trial->parsed.diags));
    CHECK(trial, graph_model_init(&trial->after, trial->parsed.module, the_graph(trial)));
    read_ops(trial);
    check_told(trial);
    for (unsigned i = 0; i < trial->after.count; i++)
        for (unsigned j = 0; j < trial->after.count; j++)
            tally->afters += trial->after_of[i] >> j & 1;
    trial->n_events = 0;
    memset(trial->after_of, 0, sizeof trial->after_of);
}

/* The passes, up to the end of what rearranges launches, and then what they do when nothing does
 * that any more. False where launches hang. */
static bool run_trial(struct trial *trial, struct tally *tally)
{
    struct analyses analyses = {.effects = NULL};
    struct pass_context context = {
        .module = trial->parsed.module, .diags = &trial->parsed.diags, .analyses = &analyses};
    bool changed,
        ok = run_passes(&trial->parsed) && (!trial->limited || limit_launches(&context, &changed));
    if (ok)
        check_text(trial, tally);
    analyses_drop(&analyses);
    CHECK(trial, !ok || insert_events(&context, true));
    analyses_drop(&analyses);
    return ok;
}

static void count_changes(const struct trial *trial, struct tally *tally)
{
    const struct diags *diags = &trial->parsed.diags;
    tally->limited += diags_have(diags, DIAG_launch_cut) || diags_have(diags, DIAG_launch_waits);
    tally->unfused += diags_have(diags, DIAG_scope_bypassed);
}

static void check_seed(uint64_t seed, const struct random_graph_options *options, bool limited,
                       struct tally *tally)
{
    struct trial *trial = mem_calloc(1, sizeof *trial);
    trial->seed = seed;
    trial->limited = limited;
    random_graph(&trial->text, seed, options);
    parsed_init(&trial->parsed, trial->text.at, trial->text.size);
    trial->parsed.diags.remarks = trial->limited;
    CHECK(trial, trial->parsed.module && verify_module(trial->parsed.module, &trial->parsed.diags));
    CHECK(trial, graph_model_init(&trial->before, trial->parsed.module, the_graph(trial)));
    tally->graphs++;
    if (run_trial(trial, tally)) {
        count_changes(trial, tally);
        check_trial(trial, tally);
    } else
        tally->refused++;
    text_free(&trial->text);
    parsed_free(&trial->parsed);
    mem_free(trial);
}

static void test_random_graphs(void **state)
{
    (void)state;
    static const struct random_graph_options all[] = {
        {.max_ops = 12, .stream_fusion = true},
        {.max_ops = 40, .stream_fusion = true, .memory = true, .unfusable = true},
        {.max_ops = 64, .stream_fusion = true, .memory = true, .superkernels = true},
        {.max_ops = 16, .stream_fusion = true, .passive = true},
        {.max_ops = 64,
         .memory = true,
         .stream_fusion = true,
         .superkernels = true,
         .passive = true},
        {.max_ops = 16, .memory = true, .stream_fusion = true, .views = true},
        {.max_ops = 64,
         .memory = true,
         .stream_fusion = true,
         .superkernels = true,
         .unfusable = true,
         .passive = true,
         .views = true},
    };
    struct tally tally = {0};
    struct random_runs runs = random_runs(1000);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        for (uint64_t n = 0; n < runs.count; n++)
            check_seed(runs.seed + n, &all[i], false, &tally);
    print_message("# %u graphs, %u refused, %u events, %u of them outer, with %u words; %u orders "
                  "by after\n",
                  tally.graphs, tally.refused, tally.events, tally.outer, tally.words,
                  tally.afters);
    assert_true(runs.count < 1000 || tally.afters > runs.count / 20);
    assert_true(tally.words < tally.outer);
    assert_true(tally.events > tally.graphs / 4);
}

/* Cores are few: many launches would keep those of others. */
static void test_limited(void **state)
{
    (void)state;
    static const struct random_graph_options all[] = {
        {.max_ops = 16, .stream_fusion = true, .bypass = true},
        {.max_ops = 40, .stream_fusion = true, .bypass = true, .memory = true, .views = true},
        {.max_ops = 24, .stream_fusion = true, .bypass = true, .passive = true, .views = true},
    };
    struct tally tally = {0};
    struct random_runs runs = random_runs(2000);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        for (uint64_t n = 0; n < runs.count; n++)
            check_seed(runs.seed + n, &all[i], true, &tally);
    print_message("# %u graphs, %u refused; launches of %u rearranged, of %u left unfused; "
                  "%u orders by after\n",
                  tally.graphs, tally.refused, tally.limited, tally.unfused, tally.afters);
    assert_true(runs.count < 1000 ||
                (tally.limited > runs.count / 20 && tally.unfused > runs.count / 100));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_graphs),
                                       cmocka_unit_test(test_limited)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
