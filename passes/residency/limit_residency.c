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
 * cores or events of another. A search finds such states in what is predicted of entries
 * (passes/residency/deadlock_search.h), and each is changed until none is left.
 * Entries are not there yet, so this pass refuses nothing: verify-launches does.
 */
#include "ir/shapes/gears.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"
#include "passes/manager/pass.h"
#include "passes/partition/fused_report.h"
#include "passes/partition/fusion.h"
#include "passes/residency/launch_cuts.h"
#include "passes/residency/launch_report.h"
#include "passes/residency/limit_residency.h"
#include "passes/transform/events/insert_events.h"

/* A cut that is not enough is followed by others. */
enum { MAX_ROUNDS = 64 };

/* ------------------------------------------------------------------------- reports ---- */

/* What was changed at a wait, and for whom. False where that must not be. */
static bool report_fix(struct launch_advisor *advisor, const struct fix *fix, uint32_t cuts)
{
    const struct module *module = advisor->module;
    const struct graph_launches *launches = &advisor->launches;
    const struct launch_table *table = &launches->table;
    const struct launch_step *step = &table->steps.at[fix->step];
    const struct op *op = &advisor->graph->ops.at[step->user];
    const struct launch_row *row = &table->rows.at[fix->row];
    struct diags *diags = advisor->context->diags;
    const char *name = launch_text(advisor, fix->row),
               *op_name = op_text(module, advisor->graph, op, &diags->arena), *what, *why = "",
               *other = fix->other == NONE ? "another launch" : launch_text(advisor, fix->other);
    enum sk_strict strict = fix_strictness(fix, launches);
    enum diag_id id;
    if (strict == SK_STRICT_abort) {
        id = DIAG_scope_broken;
        what = "breaks here, which strict-scope-check=abort forbids";
    } else if (strict == SK_STRICT_bypass) {
        id = DIAG_scope_bypassed;
        what = "is left unfused, since it would break here (strict-scope-check=bypass)";
    } else if (fix->cut) {
        uint32_t block = launches->sources.at[fix->row].block;
        bool differs = advisor->context->reference_partition &&
                       attr_find(module, advisor->graph->blocks.at[block].attrs, W_scope);
        id = differs ? DIAG_partition_differs : DIAG_launch_cut;
        what = arena_printf(&diags->arena, "is cut before %s", op_name);
        why = ", and what it waits for comes only after its start";
    } else {
        id = DIAG_launch_waits;
        what = arena_printf(&diags->arena, "waits as a whole for what %s waits for", op_name);
    }
    bool kept = diag_at(diags, id, locate_op(module, op, OP_TYPE_NAME, 0),
                        "%s %s: waiting here for '%.*s' it would keep the cores that %s lacks%s",
                        name, what, NAME(module, launches->events.at[step->event]), other, why);
    if (kept && fix->cut)
        advise_cut(advisor, fix, cuts);
    if (kept && fix->other != NONE) {
        const struct launch_row *lacking = &table->rows.at[fix->other];
        struct span span = launch_span(advisor, fix->other);
        if (fix->cut)
            diag_help(
                diags, "of %u AICs and %u AIVs %s keeps %s, and %s needs %s at once",
                table->device.aics, table->device.aivs, name,
                launch_cores_text(advisor, row->shape, row->blocks), other,
                launch_cores_text(advisor, lacking->shape, lacking->keeps ? lacking->blocks : 1));
        if (span.end)
            diag_note(diags, span, "that lacks cores");
    }
    return strict != SK_STRICT_abort;
}

/* ------------------------------------------------------------------------- changes ---- */

/* Before there are entries, a notification may come before all blocks have their cores. Where
 * nothing helps against that, fixes are looked for that help if it does not: verify-launches
 * decides. `work`: what is left of it in all rounds. */
static void find_fixes(struct launch_table *table, struct fixes *fixes, uint64_t *work)
{
    for (int early = 1; early >= 0 && fixes->count == 0; early--) {
        struct search search;
        for (uint32_t i = 0; i < table->steps.count; i++)
            table->steps.at[i].early = early && table->steps.at[i].early;
        search_init(&search, table, SEARCH_STATES, *work);
        enum verdict verdict = search_fix(&search, fixes);
        *work -= search.work < *work ? search.work : *work;
        search_free(&search);
        if (verdict != SEARCH_HANGS)
            break;
    }
}

static bool limit_graph(struct launch_advisor *advisor, struct graph *graph, uint64_t *work,
                        bool *changed)
{
    struct pass_context *context = advisor->context;
    struct graph_launches *launches = &advisor->launches;
    struct fixes fixes = {NULL, 0, 0};
    uint32_t cuts = 0;
    bool ok = true;
    for (uint32_t i = 0; i < launches->sources.count; i++) {
        uint32_t block = launches->sources.at[i].block;
        if (block != NONE && block_entry(context->module, &graph->blocks.at[block]))
            launches->table.rows.at[i].sealed = true; /* what an entry does is not changed */
    }
    find_fixes(&launches->table, &fixes, work);
    for (uint32_t i = 0; i < fixes.count; i++)
        cuts += fixes.at[i].cut;
    for (uint32_t i = 0; i < fixes.count; i++)
        ok = report_fix(advisor, &fixes.at[i], cuts) && ok;
    if (ok && fixes.count) {
        const struct order *order = analyses_order(context->analyses, context->module, graph);
        fixes_apply(&fixes, launches, order, context->module, graph, context->reference_names);
        *changed = true;
    }
    vec_free(&fixes);
    return ok;
}

bool limit_launches(struct pass_context *context, bool *changed)
{
    struct module *module = context->module;
    uint32_t n = module->graphs.count;
    uint64_t *work = mem_calloc(n, sizeof *work); /* by graph: what is left of it in all rounds */
    bool ok = true, again = !context->unproven;   /* else a run shows it */
    for (uint32_t i = 0; i < n; i++)
        work[i] = SEARCH_WORK;
    for (unsigned round = 0; ok && again && round < MAX_ROUNDS; round++) {
        struct called_launches called;
        again = false;
        called_launches_init(&called, module);
        analyses_make_members(context->analyses, module);
        for (uint32_t i = 0; i < n; i++) {
            struct launch_advisor advisor;
            if (work[i] == 0)
                continue;
            gears_tell_copy(context->diags, module, &module->graphs.at[i]);
            launch_advisor_init(&advisor, context, &called, &module->graphs.at[i]);
            ok = limit_graph(&advisor, &module->graphs.at[i], &work[i], &again) && ok;
            launch_advisor_free(&advisor);
        }
        gears_tell_copy(context->diags, module, NULL);
        called_launches_free(&called);
        if (!ok || !again)
            break;
        *changed = true;
        analyses_drop(context->analyses);
        ok = insert_events(context, false);
        if (ok)
            analyses_drop(context->analyses);
    }
    mem_free(work);
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
    bool changed = false;
    fusion_free_passive(context);
    bool ok = limit_launches(context, &changed);
    if (ok && says_implied(context->module)) {
        analyses_drop(context->analyses);
        ok = insert_events(context, true);
        analyses_drop(context->analyses);
        changed = true;
    }
    if (ok && changed)
        report_fused_again(context->diags, context->module, context->analyses);
    if (ok && (changed || !diags_have(context->diags, DIAG_ring)))
        report_rings(context->diags, context->module, context->analyses);
    return ok;
}
