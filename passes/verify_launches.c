/* verify-launches: proves that launches of different streams cannot hang, or says how they can.
 *
 * needs    super kernels with their entries, events of all order between launches
 * changes  nothing
 *
 * What decides are the entries: in which order a launch waits for events and sends them, whether
 * all of its blocks have cores then, and whether it keeps them (docs/device-model.md, "Launches
 * side by side"). The states that launches can come to are tried (passes/launches/explore.h), up to
 * a limit. Beyond that it is not known whether they hang, and they are refused.
 */
#include "ir/gears.h"
#include "ir/syntax/locate.h"
#include "passes/limiter.h"
#include "passes/pass.h"

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

static void report_unknown(const struct limiter *limiter, const struct explorer *explorer)
{
    if (diag_at(limiter->context->diags, DIAG_launches_unknown,
                locate_name(limiter->module, limiter->graph->loc),
                "whether launches of '@%.*s' can keep each other's cores is not known: they come "
                "together in more than %llu ways",
                NAME(limiter->module, limiter->graph->name),
                (unsigned long long)explorer_ways(explorer)))
        diag_help(limiter->context->diags, "order more of them, or use fewer streams");
}

static bool verify_queue(struct limiter *limiter, struct queue *queue)
{
    struct explorer explorer;
    explorer_init(&explorer, queue, EXPLORE_STATES);
    enum verdict verdict = explorer_run(&explorer);
    if (verdict == LAUNCHES_HANG)
        report_hang(limiter, &explorer);
    else if (verdict == LAUNCHES_UNKNOWN)
        report_unknown(limiter, &explorer);
    explorer_free(&explorer);
    return verdict == LAUNCHES_SAFE;
}

static bool verify_graph(struct limiter *limiter)
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
        ok = verify_queue(limiter, &queue);
    else
        report_circle(limiter, &queue, &circle);
    queue_circle_free(&circle);
    queue_free(&queue);
    graph_launches_free(&limiter->launches);
    return ok;
}

bool pass_verify_launches(struct pass_context *context)
{
    struct module *module = context->module;
    struct called_launches called;
    bool ok = true;
    if (context->unproven) /* a run shows it */
        return true;
    called_launches_init(&called, module);
    analyses_make_members(context->analyses, module);
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        struct limiter limiter = {.context = context,
                                  .module = module,
                                  .graph = &module->graphs.at[i],
                                  .called = &called};
        gears_tell_copy(context->diags, module, limiter.graph);
        ok = verify_graph(&limiter) && ok;
    }
    gears_tell_copy(context->diags, module, NULL);
    called_launches_free(&called);
    return ok;
}
