/* verify-launches: proves that launches of different streams cannot hang, or says how they can.
 *
 * needs    super kernels with their entries, events of all order between launches
 * changes  nothing
 *
 * What decides are the entries: in which order a launch waits for events and sends them, whether
 * all of its blocks have cores then, and whether it keeps them (docs/device-model.md, "Launches
 * side by side"). The states that launches can come to are tried
 * (passes/residency/deadlock_search.h), up to a limit. Beyond that it is not known whether they
 * hang, and they are refused. */
#include "ir/shapes/gears.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"
#include "passes/manager/pass.h"
#include "passes/residency/launch_report.h"

/* A line of a state is a note; what has no place of its own is told at the one before. */
static void report_hang(struct launch_advisor *advisor, const struct search *search)
{
    struct diags *diags = advisor->context->diags;
    bool cycle = search->verdict == SEARCH_CYCLE;
    struct launch_lines lines = {NULL, 0, 0};
    describe_hang(&lines, &advisor->launches, search);
    assert(lines.count > 0);
    bool kept = diag_at(diags, cycle ? DIAG_launches_circle : DIAG_launches_hang,
                        launch_span(advisor, lines.at[0].row),
                        cycle ? "launches of '@%.*s' wait for each other"
                              : "launches of '@%.*s' can keep each other's cores for ever",
                        NAME(advisor->module, advisor->graph->name));
    for (uint32_t i = 0; i < lines.count && kept; i++) {
        struct span span = launch_span(advisor, lines.at[i].row);
        if (lines.at[i].row == NONE)
            diag_help(diags, "it came so: %s", lines.at[i].text);
        else if (span.end)
            diag_note(diags, span, "%s", lines.at[i].text);
        else
            diag_help(diags, "%s", lines.at[i].text);
    }
    if (kept && !cycle)
        advise_hang(advisor, search);
    launch_lines_free(&lines);
}

static void report_unknown(const struct launch_advisor *advisor, const struct search *search)
{
    struct diags *diags = advisor->context->diags;
    if (diag_at(diags, DIAG_launches_unknown, locate_name(advisor->module, advisor->graph->loc),
                "whether launches of '@%.*s' can keep each other's cores is not known: they come "
                "together in more than %llu ways",
                NAME(advisor->module, advisor->graph->name),
                (unsigned long long)search_ways(search)))
        diag_help(diags, "order more of them, or use fewer streams");
}

static bool verify_graph(struct launch_advisor *advisor)
{
    struct search search;
    search_init(&search, &advisor->launches.table, SEARCH_STATES, SEARCH_WORK);
    enum verdict verdict = search_run(&search);
    if (verdict == SEARCH_UNKNOWN)
        report_unknown(advisor, &search);
    else if (verdict != SEARCH_SAFE)
        report_hang(advisor, &search);
    search_free(&search);
    return verdict == SEARCH_SAFE;
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
        struct launch_advisor advisor;
        gears_tell_copy(context->diags, module, &module->graphs.at[i]);
        launch_advisor_init(&advisor, context, &called, &module->graphs.at[i]);
        ok = verify_graph(&advisor) && ok;
        launch_advisor_free(&advisor);
    }
    gears_tell_copy(context->diags, module, NULL);
    called_launches_free(&called);
    return ok;
}
