/* The pipeline `default` on random graphs: every entry is executed by sync_simulator.h, which must
 * find each order that the graph demands (graph_model.h) known wherever an op starts, nothing
 * stuck, and no flag too full or left set. Entries with one instruction taken out, or moved, show
 * that it can fail, and that verify-sync, which executes nothing, proves none that is wrong.
 *
 * SKIR_TEST_SEED and SKIR_TEST_COUNT choose other graphs, SKIR_TEST_JOBS the number of processes,
 * SKIR_TEST_FILTER the tests ("test_options"; * and ? stand for any text and character). */
#include "ir/core/invariants.h"
#include "ir/core/kernel.h"
#include "ir/core/sk_options.h"
#include "ir/verify/verify.h"
#include "passes/lower/superkernel.h"
#include "passes/manager/pipeline.h"
#include "tests/unit/entry_launch.h"
#include "tests/unit/graph_model.h"
#include "tests/unit/parallel.h"
#include "tests/unit/parsed_module.h"
#include "tests/unit/random_chain.h"
#include "tests/unit/random_graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* How changed entries were found to be; wrong ones may count in several ways. */
enum mutation_count {
    TRIED,
    REFUTED,
    STUCK,
    OVERFLOWING,
    LEFT,
    UNDRAINED,
    DISORDERED,
    REDUNDANT, /* well, and proven to be */
    UNPROVEN,  /* well, but not for verify-sync */
    N_MUTATION_COUNTS
};

enum mutation { DROPPED, DROPPED_PAIR, SWAPPED, DRAINED, RECAST, EXCHANGED, N_MUTATIONS };
static const char *const mutation_names[] = {"dropped", "dropped in pairs", "swapped",
                                             "drained", "recast",           "exchanged"};

enum count {
    GRAPHS,
    ENTRIES,
    OPS,
    NEEDS,
    SINGLE_CORES, /* entries for one AI core */
    BRIMFUL,      /* entries that have as many releases outstanding as the inserter allows */
    REFUSED,      /* graphs with super kernels that cannot be */
    MUTATED,
    N_COUNTS = MUTATED + N_MUTATIONS * N_MUTATION_COUNTS
};

/* What a test runs. */
struct plan {
    struct random_graph_options options;
    unsigned max_chain;     /* 0, or a chain of so many ops at most is made instead of a graph */
    const char *sk_options; /* of all scopes, over their own; NULL: none */
    bool mutated;
};

struct trial {
    uint64_t seed;
    struct text text;
    struct parsed_module parsed;
    struct graph_model before, after;
    const struct random_chain *chain; /* or NULL */
    const struct plan *plan;
    unsigned *counts;
};

#define CHECK(trial, condition) PARALLEL_CHECK(report_failure, trial, condition)

static void report_failure(struct trial *trial, const char *condition, int line)
{
    random_report(trial->seed, &trial->text);
    diags_print(&trial->parsed.diags, stderr, false);
    if (trial->plan->mutated && trial->parsed.module) {
        struct text text = parsed_print(&trial->parsed, false);
        fprintf(stderr, "# as it is now:\n%s", text.at);
        text_free(&text);
    }
    fprintf(stderr, "# line %d: not %s\n", line, condition);
}

static const struct graph *the_graph(const struct trial *trial)
{
    return &trial->parsed.module->graphs.at[0];
}

/* ------------------------------------------------------------------------------- orders ---- */

/* Whether an op of the super kernel receives, or sends, an event. */
static bool has_events(const struct trial *trial, uint32_t superkernel, bool sends)
{
    const struct graph *graph = the_graph(trial);
    for (unsigned i = 0; i < trial->after.count; i++) {
        const struct clauses *clauses = op_clauses(graph, &graph->ops.at[trial->after.id[i]]);
        if (trial->after.superkernel[i] == superkernel &&
            (sends ? clauses->send.count : clauses->recv.count))
            return true;
    }
    return false;
}

/* Whether the op uses what ops outside write, or has read what they overwrite, while its super
 * kernel waits for events, or sends some. */
static bool is_beyond(const struct trial *trial, unsigned nr, bool reads)
{
    uint32_t superkernel = trial->after.superkernel[nr];
    for (unsigned i = 0; i < trial->after.count; i++)
        if (trial->after.superkernel[i] != superkernel &&
            (reads ? trial->before.read_before[i] >> nr : trial->before.before_start[nr] >> i) & 1)
            return has_events(trial, superkernel, reads);
    return false;
}

/* What kernels that start early must not do before, or behind, what they say. */
static void add_early_needs(const struct trial *trial, unsigned earlier, unsigned later,
                            struct entry_launch *launch)
{
    unsigned from = trial->after.id[earlier], to = trial->after.id[later];
    bool start = trial->before.before_start[later] >> earlier & 1 || is_beyond(trial, later, false);
    if (start)
        entry_launch_need(launch, from, launch->begin[to]);
    if (trial->before.read_before[later] >> earlier & 1 || is_beyond(trial, earlier, true))
        entry_launch_need(launch, launch->end[from], start ? launch->begin[to] : to);
}

static void add_graph_needs(const struct trial *trial, const struct entry *entry,
                            struct entry_launch *launch)
{
    for (unsigned nr = 0; nr < trial->after.count; nr++)
        for (unsigned i = 0; i < trial->after.count; i++)
            if (trial->after.superkernel[nr] == entry->name && !trial->after.passive[nr] &&
                graph_model_inner(&trial->after, nr) >> i & 1) {
                entry_launch_need(launch, trial->after.id[i], trial->after.id[nr]);
                add_early_needs(trial, i, nr, launch);
            }
}

static void add_chain_needs(const struct random_chain *chain, struct entry_launch *launch)
{
    for (unsigned i = 0; i < chain->count; i++)
        for (unsigned j = 0; j < i; j++)
            if (chain->needs[i][j])
                entry_launch_need(launch, j, i);
}

static void launch_init(struct trial *trial, const struct entry *entry, struct entry_launch *launch)
{
    CHECK(trial, entry_launch_init(launch, trial->parsed.module, the_graph(trial), entry));
    if (trial->chain)
        add_chain_needs(trial->chain, launch);
    else
        add_graph_needs(trial, entry, launch);
}

/* Order may be said in another way afterwards, for launches as wholes; that within a super kernel
 * is still that of its ops, or comes by launches beside it. */
static void check_order_kept(struct trial *trial)
{
    const struct graph_model *after = &trial->after;
    uint64_t needs[MODEL_MAX_OPS];
    graph_model_launched(after, needs);
    for (unsigned i = 0; i < trial->before.count; i++)
        for (unsigned j = 0; j < trial->before.count; j++)
            CHECK(trial, after->superkernel[i] == NONE || after->passive[i] || after->passive[j] ||
                             after->superkernel[j] != after->superkernel[i] ||
                             !(trial->before.needs[i] >> j & 1) || needs[i] >> j & 1);
}

/* ---------------------------------------------------------------------------- mutations ---- */

/* What the pass verify-sync says of the module, all of whose other entries are well. */
static bool is_proven(const struct trial *trial)
{
    struct diags diags;
    diags_init(&diags, NULL, "test.skir");
    struct analyses analyses = {.effects = NULL};
    struct pass_context context = {
        .module = trial->parsed.module, .diags = &diags, .analyses = &analyses};
    bool proven = verify_module(trial->parsed.module, &diags) && pass_verify_sync(&context);
    analyses_drop(&analyses);
    diags_free(&diags);
    return proven;
}

/* Whether calls say what their kernels were built to do. */
static bool calls_are_well(const struct trial *trial, const struct entry *entry)
{
    const struct module *module = trial->parsed.module;
    for (unsigned core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++) {
            const struct instr *instr = &entry->programs[core].instrs.at[i];
            if (instr->op != INSTR_call)
                continue;
            unsigned built = kernel_early_start(module, module_find_kernel(module, instr->kernel));
            if ((built ^ instr->early) & EARLY_SET ||
                !(built & EARLY_WAIT_MIX) != !(instr->early & EARLY_WAIT_MIX))
                return false;
        }
    return true;
}

/* Whether each call of a dynamic kernel has a choice of its own before it. */
static bool choices_are_well(const struct trial *trial, const struct entry *entry)
{
    const struct module *module = trial->parsed.module;
    for (unsigned core = 0; core < CORE_TYPES; core++) {
        uint32_t chosen = NONE;
        for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++) {
            const struct instr *instr = &entry->programs[core].instrs.at[i];
            if (instr->op == INSTR_select && chosen != NONE)
                return false;
            if (instr->op == INSTR_select)
                chosen = instr->kernel;
            if (instr->op != INSTR_call)
                continue;
            const struct kernel *kernel = module_find_kernel(module, instr->kernel);
            if (chosen != (attr_flag(module, kernel->attrs, W_dynamic) ? instr->kernel : NONE))
                return false;
            chosen = NONE;
        }
        if (chosen != NONE)
            return false;
    }
    return true;
}

/* The instruction before or behind, but for those that mean nothing to other cores. */
static const struct instr *neighbour(const struct program *program, uint32_t index, int step)
{
    for (index += (uint32_t)step; index < program->instrs.count; index += (uint32_t)step)
        if (instr_info(program->instrs.at[index].op)->effect != EFFECT_NONE)
            return &program->instrs.at[index];
    return NULL;
}

/* Whether steps of fed barriers stand directly at calls, `begin` before one and the others behind
 * it. */
static bool feeds_are_well(const struct entry *entry)
{
    for (unsigned core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++) {
            const struct program *program = &entry->programs[core];
            const struct instr *instr = &program->instrs.at[i];
            if (instr->op != INSTR_feed_sync)
                continue;
            bool begin = instr->word == PHASE_begin;
            const struct instr *beside = neighbour(program, i, begin ? 1 : -1);
            if (!beside || (beside->op != INSTR_call && (begin || beside->op != INSTR_feed_sync ||
                                                         beside->word == PHASE_begin)))
                return false;
        }
    return true;
}

static bool lists_event(const struct graph *graph, struct range events, uint32_t event)
{
    for (uint32_t i = 0; i < events.count; i++)
        if (graph->refs.at[events.first + i] == event)
            return true;
    return false;
}

/* Whether an op sends or receives an event, or its super kernel does as a whole. */
static bool has_event(const struct trial *trial, unsigned nr, uint32_t event, bool send)
{
    const struct graph *graph = the_graph(trial);
    const struct op *op = &graph->ops.at[trial->after.id[nr]];
    const struct clauses *clauses = op_clauses(graph, op);
    uint32_t block = trial->after.passive[nr] ? NONE : graph_superkernel(graph, op->block);
    if (lists_event(graph, send ? clauses->send : clauses->recv, event))
        return true;
    return block != NONE &&
           lists_event(graph, send ? graph->blocks.at[block].send : graph->blocks.at[block].recv,
                       event);
}

/* Whether an op that sends one event receives another one, or waits for one that does. */
static bool comes_behind(const struct trial *trial, uint32_t sent, uint32_t received)
{
    const struct graph_model *after = &trial->after;
    for (unsigned i = 0; i < after->count && !trial->chain; i++)
        for (unsigned j = 0; j < after->count && has_event(trial, i, sent, true); j++)
            if (has_event(trial, j, received, false) && (i == j || after->needs[i] >> j & 1))
                return true;
    return false;
}

/* Whether programs wait for what is only sent behind what they notify behind the wait. */
static bool has_circle(const struct trial *trial, const struct entry_launch *launch,
                       const struct sync_outcome *outcome)
{
    for (uint32_t i = 0; i < launch->words.count; i++)
        for (uint32_t j = 0; j < launch->words.count; j++) {
            const struct entry_word *wait = &launch->words.at[i], *notify = &launch->words.at[j];
            if (wait->op == INSTR_wait_event && notify->op == INSTR_notify &&
                comes_behind(trial, wait->event, notify->event) &&
                sync_outcome_orders(outcome, wait->number, notify->number))
                return true;
        }
    return false;
}

/* What is proven must be well. The proof refuses nothing that is well, either: what it computes of
 * two positions is all that there is to know about a launch. */
static void judge(struct trial *trial, const struct entry *entry, enum mutation mutation)
{
    unsigned *counts = trial->counts + MUTATED + mutation * N_MUTATION_COUNTS;
    struct entry_launch launch;
    struct sync_outcome outcome;
    launch_init(trial, entry, &launch);
    sync_simulate(&outcome, &launch.sync);
    bool ordered = entry_launch_is_ordered(&launch, &outcome) && calls_are_well(trial, entry) &&
                   choices_are_well(trial, entry) && feeds_are_well(entry);
    ordered = ordered && !has_circle(trial, &launch, &outcome);
    bool well = ordered && sync_outcome_ok(&outcome), proven = is_proven(trial);
    entry_launch_free(&launch);
    CHECK(trial, well || !proven);
    counts[TRIED]++;
    counts[REFUTED] += !well;
    counts[STUCK] += outcome.stuck > 0;
    counts[OVERFLOWING] += outcome.overflows > 0;
    counts[LEFT] += outcome.left > 0;
    counts[UNDRAINED] += outcome.undrained > 0;
    counts[DISORDERED] += !ordered;
    counts[REDUNDANT] += well && proven;
    counts[UNPROVEN] += well && !proven;
}

static struct instr take_instr(struct program *program, uint32_t index)
{
    struct instr instr = program->instrs.at[index];
    uint32_t behind = --program->instrs.count - index;
    memmove(program->instrs.at + index, program->instrs.at + index + 1, behind * sizeof instr);
    return instr;
}

static void put_instr(struct program *program, uint32_t index, struct instr instr)
{
    uint32_t behind = program->instrs.count - index;
    vec_push(&program->instrs, instr);
    memmove(program->instrs.at + index + 1, program->instrs.at + index, behind * sizeof instr);
    program->instrs.at[index] = instr;
}

static enum instr_effect effect_at(const struct program *program, uint32_t index)
{
    enum instr_effect effect = instr_info(program->instrs.at[index].op)->effect;
    /* What chooses functions and feeds barriers is not mutated. */
    bool own = effect == EFFECT_SELECT || effect == EFFECT_CLEAR || effect == EFFECT_FEED;
    return own ? EFFECT_NONE : effect;
}

static bool synchronises(const struct program *program, uint32_t index)
{
    enum instr_effect effect = effect_at(program, index);
    return effect != EFFECT_NONE && effect != EFFECT_CALL;
}

/* The instruction that belongs to the arrive or set at `index`: of the same count in its
 * program. */
static bool find_partner(const struct entry *entry, unsigned core, uint32_t index,
                         unsigned *partner_core, uint32_t *partner)
{
    enum instr_effect effect = effect_at(&entry->programs[core], index);
    bool barrier = effect == EFFECT_ARRIVE;
    unsigned before = 0;
    if (!barrier && effect != EFFECT_SET)
        return false;
    for (uint32_t i = 0; i < index; i++)
        before += effect_at(&entry->programs[core], i) == effect;
    *partner_core = barrier ? core : 1 - core;
    const struct program *program = &entry->programs[*partner_core];
    for (*partner = 0; *partner < program->instrs.count; ++*partner)
        if (effect_at(program, *partner) == (barrier ? EFFECT_AWAIT : EFFECT_WAIT) && before-- == 0)
            return true;
    return false;
}

static void drop(struct trial *trial, struct entry *entry, unsigned core, uint32_t index)
{
    struct instr taken = take_instr(&entry->programs[core], index);
    judge(trial, entry, DROPPED);
    put_instr(&entry->programs[core], index, taken);
}

/* The later of two instructions of one program is taken first, so that both indices hold. */
static void drop_pair(struct trial *trial, struct entry *entry, unsigned core, uint32_t index)
{
    unsigned other;
    uint32_t partner;
    if (!find_partner(entry, core, index, &other, &partner))
        return;
    bool swap = other == core && partner < index;
    struct program *late = &entry->programs[swap ? core : other];
    struct program *early = &entry->programs[swap ? other : core];
    uint32_t late_at = swap ? index : partner, early_at = swap ? partner : index;
    struct instr late_taken = take_instr(late, late_at);
    struct instr early_taken = take_instr(early, early_at);
    judge(trial, entry, DROPPED_PAIR);
    put_instr(early, early_at, early_taken);
    put_instr(late, late_at, late_taken);
}

/* The instruction and the next one that means something to the others. */
static void swap_next(struct trial *trial, struct entry *entry, unsigned core, uint32_t index)
{
    struct program *program = &entry->programs[core];
    uint32_t next = index + 1;
    while (next < program->instrs.count && effect_at(program, next) == EFFECT_NONE)
        next++;
    if (next == program->instrs.count ||
        !(synchronises(program, index) || synchronises(program, next)) ||
        program->instrs.at[index].op == program->instrs.at[next].op)
        return;
    struct instr first = program->instrs.at[index], second = program->instrs.at[next];
    program->instrs.at[index] = second;
    program->instrs.at[next] = first;
    judge(trial, entry, SWAPPED);
    program->instrs.at[index] = first;
    program->instrs.at[next] = second;
}

/* The halves of a barrier that are gone make a drain of one of them, which is often enough. */
static void make_drain(struct trial *trial, struct entry *entry, unsigned core, uint32_t index)
{
    unsigned other;
    uint32_t partner;
    struct program *program = &entry->programs[core];
    if (!find_partner(entry, core, index, &other, &partner) || other != core || partner < index)
        return;
    struct instr await = take_instr(program, partner), arrive = program->instrs.at[index];
    program->instrs.at[index] = instr_make(INSTR_pipe_barrier, 0);
    judge(trial, entry, DRAINED);
    program->instrs.at[index] = arrive;
    put_instr(program, partner, await);
}

/* A call that does one thing more, or less, than before its kernel starts or when it ends. */
static void recast(struct trial *trial, struct entry *entry, unsigned core, uint32_t index)
{
    struct instr *call = &entry->programs[core].instrs.at[index];
    const struct kernel *kernel = module_find_kernel(trial->parsed.module, call->kernel);
    unsigned built = kernel_early_start(trial->parsed.module, kernel);
    for (unsigned bit = 1; bit <= EARLY_SET; bit <<= 1) {
        if (!(built & bit))
            continue;
        call->early ^= bit;
        judge(trial, entry, RECAST);
        call->early ^= bit;
    }
}

static bool is_fed(const struct entry *entry)
{
    for (unsigned core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++)
            if (entry->programs[core].instrs.at[i].op == INSTR_feed_sync)
                return true;
    return false;
}

/* Two calls of a program, next to each other, in each other's place; what feeds barriers is that of
 * one call. */
static void exchange_next(struct trial *trial, struct entry *entry, unsigned core, uint32_t index)
{
    struct program *program = &entry->programs[core];
    uint32_t next = index + 1;
    while (next < program->instrs.count && effect_at(program, next) != EFFECT_CALL)
        next++;
    if (next == program->instrs.count || is_fed(entry))
        return;
    struct instr first = program->instrs.at[index], second = program->instrs.at[next];
    program->instrs.at[index] = second;
    program->instrs.at[next] = first;
    judge(trial, entry, EXCHANGED);
    program->instrs.at[index] = first;
    program->instrs.at[next] = second;
}

/* The verifier holds checks of barriers and flags to what stands there, in place of the proof. */
static void take_checks(struct program *program)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < program->instrs.count; i++) {
        enum instr_op op = program->instrs.at[i].op;
        if (op != INSTR_count_arrive && op != INSTR_check_await && op != INSTR_count_set &&
            op != INSTR_check_wait)
            program->instrs.at[kept++] = program->instrs.at[i];
    }
    program->instrs.count = kept;
}

static void mutate(struct trial *trial, struct entry *entry)
{
    for (unsigned core = 0; core < CORE_TYPES; core++)
        take_checks(&entry->programs[core]);
    for (unsigned core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++) {
            if (effect_at(&entry->programs[core], i) != EFFECT_NONE)
                swap_next(trial, entry, core, i);
            if (effect_at(&entry->programs[core], i) == EFFECT_CALL) {
                recast(trial, entry, core, i);
                exchange_next(trial, entry, core, i);
            }
            if (!synchronises(&entry->programs[core], i))
                continue;
            make_drain(trial, entry, core, i);
            drop(trial, entry, core, i);
            drop_pair(trial, entry, core, i);
        }
}

/* ------------------------------------------------------------------------------- trials ---- */

/* The options of an entry's super kernel. */
static void find_options(const struct trial *trial, const struct entry *entry,
                         struct sk_options *options)
{
    const struct graph *graph = the_graph(trial);
    sk_options_defaults(options);
    for (uint32_t b = 0; b < graph->blocks.count; b++)
        if (graph->blocks.at[b].kind == BLOCK_SUPERKERNEL &&
            graph->blocks.at[b].name == entry->name)
            sk_options_of(options, trial->parsed.module,
                          attr_string(trial->parsed.module, graph->blocks.at[b].attrs, W_options));
}

/* With debug-sync-all, the core drains behind each call, before the next one, and then takes part
 * in a barrier. */
static void check_debug_barriers(struct trial *trial, const struct entry *entry)
{
    struct sk_options options;
    find_options(trial, entry, &options);
    for (unsigned core = 0; core < CORE_TYPES && options.of[SK_debug_sync_all].number; core++) {
        const struct program *program = &entry->programs[core];
        bool barrier = true;
        for (uint32_t i = 0; i < program->instrs.count; i++) {
            enum instr_effect next = EFFECT_NONE;
            for (uint32_t k = i + 1; k < program->instrs.count && next == EFFECT_NONE; k++)
                next = effect_at(program, k);
            if (effect_at(program, i) == EFFECT_CALL)
                CHECK(trial, barrier);
            if (effect_at(program, i) == EFFECT_CALL)
                barrier = false;
            else if (effect_at(program, i) == EFFECT_DRAIN)
                barrier = barrier || next == EFFECT_ARRIVE || next == EFFECT_AWAIT ||
                          next == EFFECT_WAIT || next == EFFECT_SET;
        }
        CHECK(trial, barrier);
    }
}

/* With meetings, the inserter keeps one release in reserve. */
enum { BRIM = SYNC_FLAG_LIMIT - 1 };

static void check_entry(struct trial *trial, struct entry *entry)
{
    struct entry_launch launch;
    struct sync_outcome outcome;
    launch_init(trial, entry, &launch);
    sync_simulate(&outcome, &launch.sync);
    CHECK(trial, outcome.stuck == 0);
    CHECK(trial, outcome.overflows == 0);
    CHECK(trial, outcome.left == 0);
    CHECK(trial, outcome.undrained == 0);
    CHECK(trial, entry_launch_is_ordered(&launch, &outcome));
    CHECK(trial, !has_circle(trial, &launch, &outcome));
    check_debug_barriers(trial, entry);
    trial->counts[ENTRIES]++;
    trial->counts[SINGLE_CORES] += launch.sync.blocks == 1;
    trial->counts[BRIMFUL] += outcome.most >= BRIM;
    trial->counts[NEEDS] += launch.needs.count;
    for (unsigned op = 0; op < the_graph(trial)->ops.count; op++)
        trial->counts[OPS] += sync_ops_has(&outcome.started, op);
    entry_launch_free(&launch);
    if (trial->plan->mutated)
        mutate(trial, entry);
}

/* Whether all that was wrong are streams that run side by side. */
static bool has_streams(const struct trial *trial)
{
    const struct diags *diags = &trial->parsed.diags;
    for (uint32_t i = 0; i < diags->list.count; i++)
        if (diags->list.at[i].severity == SEVERITY_ERROR &&
            diags->list.at[i].id != DIAG_stream_fusion)
            return false;
    return diags->list.count > 0;
}

static uint32_t count_instrs(const struct module *module)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < module->entries.count; i++)
        for (unsigned core = 0; core < CORE_TYPES; core++)
            count += module->entries.at[i].programs[core].instrs.count;
    return count;
}

/* The pipeline `default`; of every other module without limit-residency, as it refuses many whose
 * launches would hang, and entries are to be looked at here. */
static enum pipeline_status run_default(const struct trial *trial, struct pass_context *context)
{
    struct pipeline pipeline = {NULL, 0, 0};
    for (unsigned i = 0; i < PASS_COUNT; i++)
        if (passes[i].in_default &&
            ((i != PASS_limit_residency && i != PASS_verify_launches) || trial->seed % 2))
            pipeline_add(&pipeline, &passes[i]);
    enum pipeline_status status = pipeline_run(&pipeline, context, NULL, NULL);
    pipeline_free(&pipeline);
    if (status == PIPELINE_OK &&
        (!module_is_sound(context->module) || !verify_module(context->module, context->diags)))
        return PIPELINE_DEFECT;
    return status;
}

static bool launches_hang(const struct trial *trial)
{
    const struct diags *diags = &trial->parsed.diags;
    for (uint32_t i = 0; i < diags->list.count; i++)
        if (diags->list.at[i].id == DIAG_launches_hang)
            return true;
    return false;
}

/* Runs the passes; they add nothing to what they have made. Refused are super kernels of the text
 * that would have to wait for themselves, and ops of several streams that must be one list. What
 * can be is found as if ops of scopes were launched alone: together they may do better. */
static bool lower(struct trial *trial)
{
    struct module *module = trial->parsed.module;
    struct pass_context context = {
        .module = module, .diags = &trial->parsed.diags, .sk_options = trial->plan->sk_options};
    bool possible = trial->chain || graph_model_parallel(&trial->before, trial->before.superkernel);
    enum pipeline_status status = run_default(trial, &context);
    if (possible && status == PIPELINE_INPUT && launches_hang(trial))
        return false;
    if (possible && trial->plan->sk_options && status == PIPELINE_INPUT && has_streams(trial))
        return false;
    CHECK(trial, status == PIPELINE_OK || (!possible && status == PIPELINE_INPUT));
    if (status != PIPELINE_OK)
        return false;
    uint32_t count = count_instrs(module);
    CHECK(trial, run_default(trial, &context) == PIPELINE_OK);
    CHECK(trial, count_instrs(module) == count);
    return true;
}

static void check_entries(struct trial *trial)
{
    struct module *module = trial->parsed.module;
    if (!trial->chain) {
        CHECK(trial, graph_model_init(&trial->after, module, the_graph(trial)));
        check_order_kept(trial);
    }
    for (uint32_t i = 0; i < module->entries.count; i++)
        check_entry(trial, &module->entries.at[i]);
}

static void check_trial(struct trial *trial)
{
    parsed_init(&trial->parsed, trial->text.at, trial->text.size);
    struct module *module = trial->parsed.module;
    CHECK(trial, module && verify_module(module, &trial->parsed.diags));
    CHECK(trial, trial->chain || graph_model_init(&trial->before, module, the_graph(trial)));
    trial->counts[GRAPHS]++;
    if (lower(trial))
        check_entries(trial);
    else
        trial->counts[REFUSED]++;
    text_free(&trial->text);
    parsed_free(&trial->parsed);
}

static void run_trial(uint64_t seed, const void *user, unsigned *counts)
{
    const struct plan *plan = user;
    struct trial *trial = mem_calloc(1, sizeof *trial);
    struct random_chain *chain = plan->max_chain ? mem_calloc(1, sizeof *chain) : NULL;
    *trial = (struct trial){.seed = seed, .chain = chain, .plan = plan, .counts = counts};
    if (chain)
        random_chain(chain, &trial->text, seed, plan->max_chain);
    else
        random_graph(&trial->text, seed, &plan->options);
    check_trial(trial);
    mem_free(chain);
    mem_free(trial);
}

static void check_mutations(const unsigned *counts)
{
    for (unsigned i = 0; i < N_MUTATIONS; i++) {
        const unsigned *c = counts + MUTATED + i * N_MUTATION_COUNTS;
        print_message("# %s: %u tried, %u wrong (%u stuck, %u overflows, %u left, %u undrained, "
                      "%u disordered), %u redundant, %u well but refused\n",
                      mutation_names[i], c[TRIED], c[REFUTED], c[STUCK], c[OVERFLOWING], c[LEFT],
                      c[UNDRAINED], c[DISORDERED], c[REDUNDANT], c[UNPROVEN]);
        assert_int_equal(c[UNPROVEN], 0);
    }
}

static void run_plan(const struct plan *plan, uint64_t count, unsigned *counts)
{
    struct random_runs runs = random_runs(count);
    memset(counts, 0, N_COUNTS * sizeof *counts);
    bool ok = parallel_run(runs.seed, runs.count, run_trial, plan, counts, N_COUNTS);
    print_message("# seeds %llu to %llu: %u graphs, %u rightly refused; "
                  "%u entries (%u for one AI core, %u with %u "
                  "releases outstanding), %u ops, %u required orders\n",
                  (unsigned long long)runs.seed, (unsigned long long)(runs.seed + runs.count - 1),
                  counts[GRAPHS], counts[REFUSED], counts[ENTRIES], counts[SINGLE_CORES],
                  counts[BRIMFUL], BRIM, counts[OPS], counts[NEEDS]);
    if (plan->mutated)
        check_mutations(counts);
    assert_true(ok);
}

static void test_small_graphs(void **state)
{
    (void)state;
    unsigned counts[N_COUNTS];
    run_plan(&(struct plan){.options = {.max_ops = 12,
                                        .superkernels = true,
                                        .memory = true,
                                        .unfusable = true,
                                        .stream_fusion = true,
                                        .views = true}},
             20000, counts);
}

static void test_options(void **state)
{
    (void)state;
    unsigned counts[N_COUNTS];
    run_plan(&(struct plan){.options = {.max_ops = 16,
                                        .memory = true,
                                        .stream_fusion = true,
                                        .options = true,
                                        .dynamic = true}},
             10000, counts);
}

/* What debug options add keeps every order, and is complete. */
static void test_debug_options(void **state)
{
    (void)state;
    static const char *const sk_options[] = {
        "stream-fusion=0:debug-sync-all=1",
        ("stream-fusion=0:debug-sync-all=1:debug-dcci-all=1:"
         "dcci-before-kernel-start=Plus,Turn,call:dcci-after-kernel-end=Matrix,Turn"),
        "debug-sync-all=1",
        "debug-sync-all=1:debug-dcci-all=1:dcci-before-kernel-start=Plus,Turn,call",
        "debug-dcci-all=1:dcci-before-kernel-start=Plus,Turn:dcci-after-kernel-end=Turn,call",
    };
    for (size_t i = 0; i < sizeof sk_options / sizeof sk_options[0]; i++) {
        unsigned counts[N_COUNTS];
        run_plan(&(struct plan){.options = {.max_ops = 16, .stream_fusion = true},
                                .sk_options = sk_options[i]},
                 1000, counts);
    }
}

/* Nothing of the entry's is outstanding where kernels have full barriers of their own. */
static void test_full_barriers(void **state)
{
    (void)state;
    unsigned counts[N_COUNTS];
    run_plan(&(struct plan){.options = {.max_ops = 24, .full_barriers = true},
                            .sk_options = "stream-fusion=1:feed-sync-all=1"},
             4000, counts);
    run_plan(
        &(struct plan){
            .options = {.max_ops = 12, .full_barriers = true, .early_start = true, .memory = true},
            .sk_options = "stream-fusion=0:feed-sync-all=1"},
        1000, counts);
}

static void test_large_graphs(void **state)
{
    (void)state;
    unsigned counts[N_COUNTS];
    run_plan(&(struct plan){.options = {.max_ops = 64, .stream_fusion = true, .dynamic = true}},
             4000, counts);
}

/* Flags would overflow if the inserter did not see to it; it does not do more than it must. */
static void test_chains(void **state)
{
    (void)state;
    unsigned counts[N_COUNTS];
    run_plan(&(struct plan){.max_chain = CHAIN_MAX_OPS}, 200, counts);
    assert_true(counts[BRIMFUL] > counts[GRAPHS] / 10 || counts[GRAPHS] < 100);
}

/* Where an instruction is missing or elsewhere, something is wrong or it was not needed there; each
 * way to be wrong occurs. */
static void test_mutations(void **state)
{
    (void)state;
    unsigned counts[N_COUNTS];
    run_plan(&(struct plan){.options = {.max_ops = 16, .stream_fusion = true, .dynamic = true},
                            .mutated = true},
             1000, counts);
    if (counts[GRAPHS] < 1000)
        return;
    const unsigned *dropped = counts + MUTATED + DROPPED * N_MUTATION_COUNTS;
    const unsigned *pairs = counts + MUTATED + DROPPED_PAIR * N_MUTATION_COUNTS;
    assert_true(dropped[STUCK] > 0 && dropped[LEFT] > 0 && dropped[UNDRAINED] > 0);
    assert_true(pairs[DISORDERED] > 0 && pairs[UNDRAINED] > 0);
}

/* Debug options add what is not needed, so that more may be missing. */
static void test_mutated_options(void **state)
{
    (void)state;
    unsigned counts[N_COUNTS];
    run_plan(
        &(struct plan){
            .options = {.max_ops = 16, .stream_fusion = true, .options = true, .dynamic = true},
            .mutated = true},
        1000, counts);
}

static void test_mutated_early_start(void **state)
{
    (void)state;
    unsigned counts[N_COUNTS];
    run_plan(
        &(struct plan){
            .options = {.max_ops = 12, .stream_fusion = true, .early_start = true, .memory = true},
            .sk_options = "stream-fusion=0",
            .mutated = true},
        1000, counts);
    const unsigned *recasts = counts + MUTATED + RECAST * N_MUTATION_COUNTS;
    assert_true(counts[GRAPHS] < 1000 ||
                (recasts[STUCK] > 0 && recasts[LEFT] > 0 && recasts[DISORDERED] > 0));
}

static void test_mutated_full_barriers(void **state)
{
    (void)state;
    unsigned counts[N_COUNTS];
    run_plan(&(struct plan){.options = {.max_ops = 14, .full_barriers = true},
                            .sk_options = "stream-fusion=1:feed-sync-all=1",
                            .mutated = true},
             400, counts);
}

static void test_mutated_chains(void **state)
{
    (void)state;
    unsigned counts[N_COUNTS];
    run_plan(&(struct plan){.max_chain = 60, .mutated = true}, 40, counts);
    if (counts[GRAPHS] < 40)
        return;
    unsigned overflowing = 0;
    for (unsigned i = 0; i < N_MUTATIONS; i++)
        overflowing += counts[MUTATED + i * N_MUTATION_COUNTS + OVERFLOWING];
    assert_true(overflowing > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_graphs),    cmocka_unit_test(test_options),
        cmocka_unit_test(test_debug_options),   cmocka_unit_test(test_full_barriers),
        cmocka_unit_test(test_large_graphs),    cmocka_unit_test(test_mutated_full_barriers),
        cmocka_unit_test(test_chains),          cmocka_unit_test(test_mutations),
        cmocka_unit_test(test_mutated_options), cmocka_unit_test(test_mutated_early_start),
        cmocka_unit_test(test_mutated_chains),
    };
    cmocka_set_test_filter(getenv("SKIR_TEST_FILTER"));
    return cmocka_run_group_tests_name("syncs", tests, NULL, NULL);
}
