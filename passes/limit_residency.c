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
 * cores or events of another. passes/launches says whether they can, and what to change. This pass
 * has no entries to look at, so it refuses nothing: verify-launches does.
 */
#include "ir/gears.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"
#include "passes/fusion/fused_report.h"
#include "passes/fusion/fusion.h"
#include "passes/insert_events.h"
#include "passes/launches/apply.h"
#include "passes/launches/ring_report.h"
#include "passes/limit_residency.h"
#include "passes/limiter.h"
#include "passes/pass.h"

/* A cut that is not enough is followed by others. */
enum { MAX_ROUNDS = 64 };

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

/* What an entry that is there does is not changed. */
static void seal_entries(struct limiter *limiter)
{
    const struct graph_launches *launches = &limiter->launches;
    for (uint32_t i = 0; i < launches->sources.count; i++) {
        uint32_t block = launches->sources.at[i].block;
        if (block != NONE && block_entry(limiter->module, &limiter->graph->blocks.at[block]))
            launches->table.rows.at[i].sealed = true;
    }
}

static enum verdict find_mends(struct limiter *limiter, struct mends *mends)
{
    struct queue queue;
    struct queue_circle circle;
    enum verdict verdict = LAUNCHES_CIRCLE;
    queue_init(&queue, &limiter->launches.table);
    if (!queue_find_circle(&queue, &circle)) {
        struct explorer explorer;
        explorer_init(&explorer, &queue, EXPLORE_STATES);
        explorer.looks += *limiter->looks;
        verdict = launches_mend(&explorer, mends, false);
        *limiter->looks = explorer.looks;
        explorer_free(&explorer);
    }
    queue_circle_free(&circle);
    queue_free(&queue);
    return verdict;
}

/* Before there are entries, a notification may come before all blocks have their cores. Where
 * nothing helps against that, others are looked for that help if it does not: verify-launches
 * decides. */
static void find_all_mends(struct limiter *limiter, struct mends *mends)
{
    struct launch_table *table = &limiter->launches.table;
    if (find_mends(limiter, mends) != LAUNCHES_HANG || mends->count > 0)
        return;
    for (uint32_t i = 0; i < table->steps.count; i++)
        table->steps.at[i].early = false;
    find_mends(limiter, mends);
}

static bool limit_graph(struct limiter *limiter)
{
    struct mends mends = {NULL, 0, 0};
    graph_launches_init(&limiter->launches, limiter->context->analyses, limiter->called,
                        limiter->module, limiter->graph);
    limiter->names = graph_launch_names(&limiter->launches);
    limiter->tries = 1 + MAX_TRIED / (limiter->launches.table.rows.count + 1);
    seal_entries(limiter);
    find_all_mends(limiter, &mends);
    uint32_t cuts = count_cuts(&mends);
    bool ok = true;
    for (uint32_t i = 0; i < mends.count; i++)
        ok = report_mend(limiter, &mends.at[i], cuts) && ok;
    if (ok && mends.count) {
        const struct order *order =
            analyses_order(limiter->context->analyses, limiter->module, limiter->graph);
        mends_apply(&mends, &limiter->launches, order, limiter->module, limiter->graph,
                    limiter->context->reference_names);
        limiter->changed = true;
    }
    vec_free(&mends);
    graph_launches_free(&limiter->launches);
    return ok;
}

/* `looks`: per graph, in all rounds. */
static bool limit_module(struct pass_context *context, uint64_t *looks, bool *changed)
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
                                  .looks = &looks[i]};
        if (looks[i] > EXPLORE_ALL_LOOKS)
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
    uint64_t *looks = mem_calloc(context->module->graphs.count, sizeof *looks);
    bool ok = true, changed = !context->unproven; /* else a run shows it */
    for (unsigned round = 0; ok && changed && round < MAX_ROUNDS; round++) {
        ok = limit_module(context, looks, &changed);
        if (!ok || !changed)
            break;
        analyses_drop(context->analyses);
        ok = insert_events(context, false);
        if (ok)
            analyses_drop(context->analyses);
    }
    mem_free(looks);
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
