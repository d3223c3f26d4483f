/* limit-residency: no launch keeps the cores that those need for which it waits.
 *
 * needs    super kernels, events of all order between launches, a kernel for every op
 * changes  a wait of an op in the middle of a super kernel becomes one of the launch; where that
 *          would be a circle, the super kernel is cut there. Then events are made anew. What
 *          insert-events says of order that launches of one stream imply goes in the end
 * keeps    the required order; what else is in graphs whose launches cannot hang
 *
 * Launches of different streams run side by side. One that synchronises inside keeps the cores that
 * it got until it has the others, too; so launches can come to a state in which each waits for
 * cores or events of another. passes/launches says whether they can, and what to change.
 */
#include "ir/event_sides.h"
#include "ir/gears.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"
#include "passes/fusion/fused_report.h"
#include "passes/fusion/fusion.h"
#include "passes/insert_events.h"
#include "passes/launches/apply.h"
#include "passes/launches/entry_order.h"
#include "passes/launches/ring_report.h"
#include "passes/limit_residency.h"
#include "passes/limiter.h"
#include "passes/pass.h"

/* A cut that is not enough is followed by others. */
enum { MAX_ROUNDS = 64, MAX_TRIED = 20000 }; /* launches, in all that is tried */

/* ------------------------------------------------------------------------- reports ---- */

/* A line of a state is a note; what has no place of its own is said at the one before. */
static void add_notes(const struct limiter *limiter, const struct launch_lines *lines)
{
    for (uint32_t i = 0; i < lines->count; i++) {
        struct span span = limiter_row_span(limiter, lines->at[i].row);
        if (lines->at[i].row == NONE)
            diag_help(limiter->context->diags, "it came so: %s", lines->at[i].text);
        else if (span.end)
            diag_note(limiter->context->diags, span, "%s", lines->at[i].text);
        else
            diag_help(limiter->context->diags, "%s", lines->at[i].text);
    }
}

static void report_hang(struct limiter *limiter, const struct explorer *explorer)
{
    struct launch_lines lines = {NULL, 0, 0};
    describe_state(&lines, &limiter->names, explorer, true);
    assert(lines.count > 0);
    if (diag_at(limiter->context->diags, DIAG_launches_hang,
                limiter_row_span(limiter, lines.at[0].row),
                "launches of '@%.*s' can keep each other's cores for ever",
                NAME(limiter->module, limiter->graph->name))) {
        add_notes(limiter, &lines);
        advise_hang(limiter, explorer);
    }
    launch_lines_free(&lines);
}

static void report_circle(const struct limiter *limiter, const struct queue *queue,
                          const struct queue_circle *circle)
{
    struct launch_lines lines = {NULL, 0, 0};
    describe_circle(&lines, &limiter->names, queue, circle);
    if (diag_at(limiter->context->diags, DIAG_launches_circle,
                limiter_row_span(limiter, lines.at[0].row),
                "launches of '@%.*s' wait for each other",
                NAME(limiter->module, limiter->graph->name)))
        add_notes(limiter, &lines);
    launch_lines_free(&lines);
}

/* ------------------------------------------------------------------------- given entries ---- */

static uint32_t superkernel_of(const struct limiter *limiter, const struct event_side *side)
{
    return side->op == NONE
               ? side->block
               : graph_superkernel(limiter->graph, limiter->graph->ops.at[side->op].block);
}

/* At who waits, as a launch of another entry. */
static void report_unnotified(const struct limiter *limiter, const struct event_side *sender,
                              const struct event_side *receiver)
{
    struct diags *diags = limiter->context->diags;
    const struct graph *graph = limiter->graph;
    const struct block *superkernel = &graph->blocks.at[superkernel_of(limiter, sender)];
    const struct entry *entry = block_entry(limiter->module, superkernel);
    struct arena *arena = &diags->arena;
    const char *op = op_text(limiter->module, graph, &graph->ops.at[sender->op], arena);
    if (!diag_at(diags, DIAG_sync_event,
                 locate_event_side(limiter->module, graph, receiver, OP_RECV),
                 "nobody notifies event '%.*s', for which this waits: entry '@%.*s' does not",
                 NAME(limiter->module, sender->event), NAME(limiter->module, entry->name)))
        return;
    diag_note(diags, locate_event_side(limiter->module, graph, sender, OP_SEND), "%s is to send it",
              op);
    diag_help(diags, "write 'notify %.*s' into the entry, where that op is complete",
              NAME(limiter->module, sender->event));
    diag_field(diags, "entry", arena_printf(arena, "%.*s", NAME(limiter->module, entry->name)));
    diag_field(diags, "event", arena_printf(arena, "%.*s", NAME(limiter->module, sender->event)));
}

/* What entries that are given do not notify is as if it came last, so others may wait for each
 * other for that reason alone. Returns whether it was so of any. */
static bool report_given(const struct limiter *limiter)
{
    const struct graph *graph = limiter->graph;
    struct event_sides sends = event_sides_find(graph, W_send),
                       recvs = event_sides_find(graph, W_recv);
    struct id_map receiver_of = {NULL, 0, 0};
    bool any = false;
    for (uint32_t i = recvs.count; i-- > 0;)
        id_map_set(&receiver_of, recvs.at[i].event, i);
    for (uint32_t i = 0; i < sends.count; i++) {
        uint32_t block = superkernel_of(limiter, &sends.at[i]),
                 at = id_map_find(&receiver_of, sends.at[i].event);
        if (sends.at[i].op == NONE || block == NONE || at == NONE ||
            superkernel_of(limiter, &recvs.at[at]) == block)
            continue;
        const struct entry *entry = block_entry(limiter->module, &graph->blocks.at[block]);
        if (!entry || entry_notifies(entry, sends.at[i].event))
            continue;
        report_unnotified(limiter, &sends.at[i], &recvs.at[at]);
        any = true;
    }
    id_map_free(&receiver_of);
    vec_free(&sends);
    vec_free(&recvs);
    return any;
}

/* ------------------------------------------------------------------------- changes ---- */

static void report_unknown(const struct limiter *limiter, const struct explorer *explorer)
{
    bool said = *limiter->unknown;
    *limiter->unknown = true;
    if (!said && diag_at(limiter->context->diags, DIAG_launches_unknown,
                         locate_name(limiter->module, limiter->graph->loc),
                         "whether launches of '@%.*s' can keep each other's cores is not known: "
                         "they come together in more than %llu ways",
                         NAME(limiter->module, limiter->graph->name),
                         (unsigned long long)explorer_ways(explorer)))
        diag_help(limiter->context->diags, "order more of them, or use fewer streams");
}

/* What was changed at a wait, and for whom. False where that must not be. */
static bool report_mend(struct limiter *limiter, const struct mend *mend, uint32_t cuts)
{
    const struct graph_launches *launches = &limiter->launches;
    struct diags *diags = limiter->context->diags;
    const struct launch_step *step = &launches->table.steps.at[mend->step];
    const struct op *op = &limiter->graph->ops.at[step->user];
    struct span span = locate_op(limiter->module, op, OP_TYPE_NAME, 0);
    uint32_t block = launches->sources.at[mend->row].block;
    const char *other = mend->other == NONE ? "somebody" : limiter_row_text(limiter, mend->other);
    enum sk_strict strict = mend_strictness(mend, launches);
    bool told,
        differs = mend->cut && limiter->context->reference_partition &&
                  attr_find(limiter->module, limiter->graph->blocks.at[block].attrs, W_scope);
    if (strict == SK_STRICT_abort)
        told = diag_at(diags, DIAG_scope_broken, span,
                       "'@%.*s' breaks here, which strict-scope-check=abort forbids: waiting here "
                       "for '%.*s' it would keep the cores that %s lacks",
                       NAME(limiter->module, limiter->graph->blocks.at[block].name),
                       NAME(limiter->module, launches->events.at[step->event]), other);
    else if (strict == SK_STRICT_bypass)
        told = diag_at(diags, DIAG_scope_bypassed, span,
                       "'@%.*s' is left unfused, since it would break here "
                       "(strict-scope-check=bypass): waiting here for '%.*s' it would keep the "
                       "cores that %s lacks",
                       NAME(limiter->module, limiter->graph->blocks.at[block].name),
                       NAME(limiter->module, launches->events.at[step->event]), other);
    else
        told = diag_at(diags,
                       differs     ? DIAG_partition_differs
                       : mend->cut ? DIAG_launch_cut
                                   : DIAG_launch_waits,
                       span,
                       mend->cut
                           ? "'@%.*s' is cut before %s: waiting here for '%.*s' it would keep the "
                             "cores that %s lacks, and what it waits for comes only behind its "
                             "start"
                           : "'@%.*s' waits as a whole for what %s waits for, '%.*s': waiting here "
                             "it would keep the cores that %s lacks",
                       NAME(limiter->module, limiter->graph->blocks.at[block].name),
                       op_text(limiter->module, limiter->graph, op, &diags->arena),
                       NAME(limiter->module, launches->events.at[step->event]), other);
    if (told && mend->cut)
        advise_cut(limiter, mend, cuts);
    if (told)
        explain_cores(limiter, mend, cuts);
    return strict != SK_STRICT_abort;
}

/* ------------------------------------------------------------------------- graphs ---- */

static uint32_t count_cuts(const struct mends *mends)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < mends->count; i++)
        count += mends->at[i].cut;
    return count;
}

static bool limit_queue(struct limiter *limiter, struct queue *queue)
{
    struct explorer explorer;
    struct mends mends = {NULL, 0, 0};
    explorer_init(&explorer, queue, EXPLORE_STATES);
    explorer.looks += *limiter->looks;
    enum verdict verdict = launches_mend(&explorer, &mends, false);
    *limiter->looks = explorer.looks;
    uint32_t cuts = count_cuts(&mends);
    bool ok = verdict != LAUNCHES_HANG || cuts > 0;
    if (!ok && !report_given(limiter))
        report_hang(limiter, &explorer);
    if (verdict == LAUNCHES_UNKNOWN)
        report_unknown(limiter, &explorer);
    bool hangs = !ok;
    for (uint32_t i = 0; i < mends.count && !hangs; i++)
        ok = report_mend(limiter, &mends.at[i], cuts) && ok;
    if (ok && mends.count) {
        const struct order *order =
            analyses_order(limiter->context->analyses, limiter->module, limiter->graph);
        mends_apply(&mends, &limiter->launches, order, limiter->module, limiter->graph,
                    limiter->context->reference_names);
        limiter->changed = true;
    }
    vec_free(&mends);
    explorer_free(&explorer);
    return ok;
}

static bool limit_graph(struct limiter *limiter)
{
    struct queue queue;
    struct queue_circle circle;
    graph_launches_init(&limiter->launches, limiter->context->analyses, limiter->called,
                        limiter->module, limiter->graph);
    limiter->names = graph_launch_names(&limiter->launches);
    limiter->tries = 1 + MAX_TRIED / (limiter->launches.table.rows.count + 1);
    queue_init(&queue, &limiter->launches.table);
    bool ok = !queue_find_circle(&queue, &circle);
    if (ok)
        ok = limit_queue(limiter, &queue);
    else if (!report_given(limiter))
        report_circle(limiter, &queue, &circle);
    queue_circle_free(&circle);
    queue_free(&queue);
    graph_launches_free(&limiter->launches);
    return ok;
}

/* Per graph: what is known behind a round. */
struct rounds {
    uint64_t *looks;
    bool *unknown;
};

/* Whether so much has been tried that nothing more would be found. */
static bool is_tried(const struct rounds *rounds, uint32_t graph)
{
    return rounds->unknown[graph] && rounds->looks[graph] > EXPLORE_ALL_LOOKS;
}

static bool limit_module(struct pass_context *context, struct rounds *rounds, bool *changed)
{
    struct module *module = context->module;
    struct called_launches called;
    bool ok = true;
    *changed = false;
    called_launches_init(&called, module);
    analyses_make_members(context->analyses, module);
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        struct limiter limiter = {.context = context,
                                  .module = module,
                                  .graph = &module->graphs.at[i],
                                  .called = &called,
                                  .looks = &rounds->looks[i],
                                  .unknown = &rounds->unknown[i]};
        if (is_tried(rounds, i))
            continue;
        gears_tell_copy(context->diags, module, limiter.graph);
        ok = limit_graph(&limiter) && ok;
        *changed = *changed || limiter.changed;
    }
    gears_tell_copy(context->diags, module, NULL);
    called_launches_free(&called);
    return ok;
}

bool limit_launches(struct pass_context *context)
{
    uint32_t n = context->module->graphs.count;
    struct rounds rounds = {.looks = mem_calloc(n, sizeof *rounds.looks),
                            .unknown = mem_calloc(n, sizeof *rounds.unknown)};
    bool ok = true, changed = !context->unproven; /* else a run shows it */
    for (unsigned round = 0; ok && changed && round < MAX_ROUNDS; round++) {
        ok = limit_module(context, &rounds, &changed);
        if (!ok || !changed)
            break;
        analyses_drop(context->analyses);
        ok = insert_events(context, false);
        if (ok)
            analyses_drop(context->analyses);
    }
    mem_free(rounds.looks);
    mem_free(rounds.unknown);
    return ok;
}

/* Whether ops may have clauses for order that launches of one stream imply: only then are events
 * made anew where no launch has been changed. */
static bool says_implied(const struct module *module)
{
    for (uint32_t g = 0; g < module->graphs.count; g++) {
        const struct graph *graph = &module->graphs.at[g];
        for (uint32_t i = 0; i < graph->ops.count; i++) {
            const struct op *op = &graph->ops.at[i];
            const struct clauses *clauses = op_clauses(graph, op);
            if (clauses->after.count || (clauses->send.count && op->results.count == 0))
                return true;
        }
    }
    return false;
}

bool pass_limit_residency(struct pass_context *context)
{
    fusion_free_passive(context);
    bool ok = limit_launches(context);
    if (ok && says_implied(context->module)) {
        analyses_drop(context->analyses);
        ok = insert_events(context, true);
        analyses_drop(context->analyses);
    }
    if (ok) {
        report_fused_again(context->diags, context->module, context->analyses);
        report_rings(context->diags, context->module, context->analyses);
    }
    return ok;
}
