/* skirc check: what is wrong with a file, and what would be fused. With --explain, --estimate and
 * --launches it prints an account of what the passes decide. */
#include "frontend/driver/check_gears.h"
#include "frontend/driver/cmd.h"
#include "frontend/driver/graph_arguments.h"
#include "frontend/driver/lowered_input.h"
#include "frontend/driver/module_io.h"
#include "frontend/driver/pass_plugins.h"
#include "frontend/driver/shared_options.h"
#include "ir/analysis/estimate.h"
#include "ir/core/arch.h"
#include "ir/core/kernel.h"
#include "ir/support/text.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"
#include "passes/residency/launch_report.h"

#include <string.h>

const struct option options_check[] = {
    {"explain", 0, OPTION_FLAG, NULL,
     "report what would be fused, where scopes break, why, and what to change"},
    {"estimate", 0, OPTION_FLAG, NULL,
     "report how long ops and launches may take, by the numbers of the target's chip"},
    {"launches", 0, OPTION_FLAG, NULL, "report what is launched, and whether launches can hang"},
    {"no-lower", 0, OPTION_FLAG, NULL,
     "stop behind the verifier: kernels, fusion and synchronisation are not looked at"},
    {"target", 0, OPTION_VALUE, "TARGET", backend_help},
    BIND_OPTION,
    SHAPE_OPTION,
    STRICT_GEARS_OPTION,
    SESSION_OPTIONS,
    PASS_PLUGIN_OPTION,
    JOBS_OPTION,
    {0},
};

/* ---------------------------------------------------------------------- estimates ---- */

static void print_op_estimate(FILE *out, const struct module *module, const struct graph *graph,
                              const struct graph_estimate *times, uint32_t id)
{
    static const char *const sources[] = {[ESTIMATE_UNKNOWN] = "unknown",
                                          [ESTIMATE_TIME] = "its time",
                                          [ESTIMATE_FLOPS] = "flops",
                                          [ESTIMATE_BYTES] = "bytes"};
    const struct op *op = &graph->ops.at[id];
    const struct op_estimate *time = &times->ops[id];
    struct arena scratch = {NULL, 0};
    if (time->by == ESTIMATE_UNKNOWN)
        fprintf(out, "      %10s     ", "?");
    else
        fprintf(out, "      %10.3f us  ", time->us);
    fprintf(out, "%-8s  %-11s  %s\n", sources[time->by],
            kernel_type_info(module_kernel(module, op->kernel)->type)->name,
            op_text(module, graph, op, &scratch));
    arena_free(&scratch);
}

static void print_graph_estimate(FILE *out, const struct module *module, const struct graph *graph,
                                 struct analyses *analyses)
{
    const struct members *members = analyses_members(analyses, module, graph);
    struct graph_estimate times;
    graph_estimate_init(&times, analyses, module, graph);
    fprintf(out, "  '@%.*s':\n", NAME(module, graph->name));
    for (uint32_t id = 0; id < graph->blocks.count; id++) {
        const struct block *block = &graph->blocks.at[id];
        if (block->kind != BLOCK_SUPERKERNEL)
            continue;
        fprintf(out, "    '@%.*s': %.3f us; each op launched by itself: %.3f us\n",
                NAME(module, block->name), times.blocks[id], times.alone[id]);
        for (uint32_t i = members->first[id]; i < members->first[id + 1]; i++)
            print_op_estimate(out, module, graph, &times, members->ops[i]);
    }
    /* Ops outside of super kernels, each a launch. */
    bool first = true;
    for (uint32_t i = 0; i < graph->ops.count; i++) {
        const struct op *op = &graph->ops.at[i];
        if (op->kernel == NONE || graph_superkernel(graph, op->block) != NONE)
            continue;
        if (first)
            fprintf(out, "    launched by themselves, each %.3f us more:\n",
                    estimate_launch(module));
        first = false;
        print_op_estimate(out, module, graph, &times, i);
    }
    fprintf(out, "    launches one behind the other: %.3f us; each op by itself: %.3f us",
            times.fused, times.unfused);
    if (times.unfused > times.fused)
        fprintf(out, "; fusing saves at most %.3f us", times.unfused - times.fused);
    fputc('\n', out);
    if (times.unknown)
        fprintf(out, "    %u op%s whose time is not known count%s as none\n", times.unknown,
                times.unknown == 1 ? "" : "s", times.unknown == 1 ? "s" : "");
    graph_estimate_free(&times);
}

/* Prints the account of each graph of a module that limit-residency has seen. */
static void print_estimates(struct input *input)
{
    FILE *out = input->invocation->out;
    struct analyses analyses = {NULL, 0, 0, NULL};
    enum arch arch = module_arch(input->module);
    const struct arch_rates *rates = arch_rates(arch);
    diag_put(out, input->diags.path, strlen(input->diags.path));
    fputs(":\n", out);
    if (rates)
        fprintf(out,
                "  estimate (roofline of %s, no contention; nothing is measured): %u MHz, a launch "
                "%.3f us; barriers and what kernels need to begin are not counted\n",
                arch_name(arch), rates->mhz, estimate_launch(input->module));
    else
        fprintf(out, "  nothing is known of the rates of %s: only kernels with 'time' count\n",
                arch_name(arch));
    for (uint32_t i = 0; i < input->module->graphs.count; i++)
        if (input->module->graphs.at[i].cases.count == 0) /* others are launched for it */
            print_graph_estimate(out, input->module, &input->module->graphs.at[i], &analyses);
    analyses_drop(&analyses);
}

/* -------------------------------------------------------------------- explanations ---- */

/* A remark as lines, in which names that are common to combinations of gears stand in the place of
 * those of one. */
struct told {
    const struct diag *diag;
    struct text text;
    const struct gear_place *place; /* NULL: it is not known to be of a combination */
    bool named;                     /* by a name in the text */
    uint32_t times;
    uint32_t marks[GEARS_MAX_ROWS]; /* 1 for the combinations that it is of, where `place` is */
};

struct explainer {
    FILE *out;
    struct source *source;
    struct gear_names names;
    VEC(struct told) told; /* those of one place of the source */
};

/* The place of a remark or note: where it comes from, and its line. */
static void add_place(struct text *text, struct source *source, struct diag_origin origin,
                      struct span span)
{
    if (origin.text)
        text_printf(text, "%.*s: ", (int)origin.size, origin.text);
    if (span.end && source)
        text_printf(text, "line %u: ", source_position(source, span.begin).line);
}

/* Appends what stays one line. `names` may be NULL. The place of the first name that is of a
 * combination, or NULL. */
static const struct gear_place *add_text(struct text *text, const struct gear_names *names,
                                         const char *from)
{
    size_t begin = text->size;
    const struct gear_place *place = names ? gear_names_write(names, text, from) : NULL;
    if (!names)
        text_string(text, from);
    for (size_t i = begin; i < text->size; i++)
        if (text->at[i] == '\n')
            text->at[i] = '?';
    return place;
}

/* A remark and its notes, each on a line. */
static const struct gear_place *add_remark(struct text *text, struct source *source,
                                           const struct diag *diag, const struct gear_names *names)
{
    text_string(text, "  ");
    add_place(text, source, diag->origin, diag->span);
    const struct gear_place *place = add_text(text, names, diag->text);
    text_printf(text, " [%s]\n", diag_id_text(diag->id));
    for (const struct diag_note *note = diag->notes; note; note = note->next) {
        text_string(text, note->span.end ? "    " : "    -> ");
        add_place(text, source, note->origin, note->span);
        add_text(text, names, note->text);
        text_char(text, '\n');
    }
    return place;
}

/* Counts a remark that was there in the same words, but for names of combinations. */
static void tell(struct explainer *explainer, const struct diag *diag)
{
    struct text text = {NULL, 0, 0};
    const struct gear_place *place = add_remark(&text, explainer->source, diag, &explainer->names);
    bool named = place != NULL;
    if (!named && diag->copy_id != NONE)
        place = gear_names_find(&explainer->names, diag->copy_id);
    uint32_t i = 0;
    for (; i < explainer->told.count; i++) {
        const struct told *told = &explainer->told.at[i];
        if (told->text.size == text.size && memcmp(told->text.at, text.at, text.size) == 0 &&
            !told->place == !place && (!place || told->place->graph == place->graph))
            break;
    }
    if (i == explainer->told.count) {
        vec_push(&explainer->told,
                 (struct told){.diag = diag, .text = text, .place = place, .named = named});
        text = (struct text){NULL, 0, 0};
    }
    explainer->told.at[i].times++;
    if (place)
        explainer->told.at[i].marks[place->row] = 1;
    text_free(&text);
}

/* Which combinations a remark is of; without a name of one in it, how often it is there. */
static void add_times(const struct explainer *explainer, const struct told *told, struct text *text)
{
    const struct module *module = explainer->names.module;
    if (!told->place) {
        text_printf(text, "    so in %u graphs\n", told->times);
        return;
    }
    const struct graph *graph = &module->graphs.at[told->place->graph];
    uint32_t count = 0;
    for (uint32_t row = 0; row < graph->cases.count; row++)
        count += told->marks[row];
    text_printf(text, "    so in %s%u combination%s of gears",
                count == graph->cases.count ? "all " : "", count, count == 1 ? "" : "s");
    if (count < graph->cases.count) {
        text_printf(text, " of %u: ", graph->cases.count);
        gear_rows_text(text, module, graph, told->marks, 1);
    }
    text_char(text, '\n');
}

/* Prints what was told of one place. */
static void print_told(struct explainer *explainer)
{
    for (uint32_t i = 0; i < explainer->told.count; i++) {
        struct told *told = &explainer->told.at[i];
        const struct gear_place *place = told->place;
        bool several = place && explainer->names.module->graphs.at[place->graph].cases.count > 1;
        if (told->times > 1 || (several && !told->named)) {
            add_times(explainer, told, &told->text);
        } else {
            told->text.size = 0;
            add_remark(&told->text, explainer->source, told->diag, NULL);
        }
        diag_put_lines(explainer->out, told->text.at, told->text.size);
        text_free(&told->text);
    }
    explainer->told.count = 0;
}

/* Prints the remarks, without source lines; those that are the same for several combinations of
 * gears once. */
static void print_explanation(struct input *input)
{
    struct diags *diags = &input->diags;
    struct explainer explainer = {.out = input->invocation->out, .source = diags->source};
    bool gears = module_has_cases(input->module);
    const struct diag *last = NULL;
    origins_mark(input->module, diags);
    const struct diag **order = diags_sorted(diags);
    /* What tests expect does not depend on the folder. */
    const char *name = is_steady(input->invocation) ? strrchr(diags->path, '/') : NULL;
    const char *path = name ? name + 1 : diags->path;
    diag_put(explainer.out, path, strlen(path));
    fputs(":\n", explainer.out);
    gear_names_init(&explainer.names, input->module);
    for (uint32_t i = 0; i < diags->list.count; i++) {
        if (order[i]->severity != SEVERITY_REMARK)
            continue;
        if (!gears || !last || last->span.begin != order[i]->span.begin)
            print_told(&explainer);
        last = order[i];
        tell(&explainer, last);
    }
    print_told(&explainer);
    bool marked = diags_have(diags, DIAG_nothing_to_fuse) || diags_have(diags, DIAG_scope_bypassed);
    if (!last && (marked || diags_have(diags, DIAG_scope_broken)))
        fputs("  nothing is fused\n", explainer.out);
    else if (!last)
        fputs("  nothing is marked to be fused: no op is in a scope\n", explainer.out);
    gear_names_free(&explainer.names);
    vec_free(&explainer.told);
    mem_free(order);
}

/* ----------------------------------------------------------------------- launches ---- */

static void print_graph_launches(FILE *out, const struct module *module, const struct graph *graph,
                                 struct analyses *analyses, struct called_launches *called)
{
    struct graph_launches launches;
    struct search search;
    struct launch_lines lines = {NULL, 0, 0};
    struct text line = {NULL, 0, 0};
    graph_launches_init(&launches, analyses, called, module, graph);
    const struct launch_table *table = &launches.table;
    fprintf(out, "  '@%.*s': %u launch%s on %u stream%s, with %u AICs and %u AIVs\n",
            NAME(module, graph->name), table->rows.count, table->rows.count == 1 ? "" : "es",
            table->n_streams, table->n_streams == 1 ? "" : "s", table->device.aics,
            table->device.aivs);
    for (uint32_t i = 0; i < table->rows.count; i++) {
        line.size = 0;
        describe_row(&line, &launches, i);
        fprintf(out, "    %.*s\n", (int)line.size, line.at);
    }
    search_init(&search, table, SEARCH_STATES, SEARCH_WORK);
    enum verdict verdict = search_run(&search);
    unsigned long long tried = search.tried;
    const char *plural = tried == 1 ? "" : "s";
    switch (verdict) {
    case SEARCH_SAFE:
        fprintf(out, "    nothing hangs (%llu state%s tried)\n", tried, plural);
        break;
    case SEARCH_HANGS: fprintf(out, "    can hang (%llu state%s tried):\n", tried, plural); break;
    case SEARCH_CYCLE: fputs("    hangs, whatever cores there are:\n", out); break;
    case SEARCH_UNKNOWN:
        fprintf(out, "    not known: %llu state%s tried, and there are more\n", tried, plural);
        break;
    }
    if (verdict == SEARCH_HANGS || verdict == SEARCH_CYCLE)
        describe_hang(&lines, &launches, &search);
    for (uint32_t i = 0; i < lines.count; i++)
        fprintf(out, "      %s%s\n", lines.at[i].row == NONE ? "it came so: " : "",
                lines.at[i].text);
    launch_lines_free(&lines);
    search_free(&search);
    text_free(&line);
    graph_launches_free(&launches);
}

static void print_launches(struct input *input)
{
    FILE *out = input->invocation->out;
    const struct module *module = input->module;
    const struct diags *diags = &input->diags;
    struct analyses analyses = {NULL, 0, 0, NULL};
    struct called_launches called;
    fprintf(out, "%s:\n", diags->path);
    for (uint32_t i = 0; i < diags->list.count; i++) {
        const struct diag *diag = &diags->list.at[i];
        if (diag->id != DIAG_launch_waits && diag->id != DIAG_launch_cut)
            continue;
        fputs("  changed: ", out);
        if (diag->span.end && diags->source)
            fprintf(out, "line %u: ", source_position(diags->source, diag->span.begin).line);
        fprintf(out, "%s\n", diag->text);
    }
    called_launches_init(&called, module);
    for (uint32_t i = 0; i < module->graphs.count; i++)
        if (module->graphs.at[i].cases.count == 0) /* others launch for it */
            print_graph_launches(out, module, &module->graphs.at[i], &analyses, &called);
    called_launches_free(&called);
    analyses_drop(&analyses);
}

/* --------------------------------------------------------------------------- files ---- */

/* What is the same for all files. */
struct check {
    const struct backend *target;
    struct pass_plugins plugins;
    bool explain, launches, estimate, lower;
};

/* The pipeline, with the accounts of what it decides. The passes up to bind-kernels decide what is
 * fused. Where all ops have kernels, limit-residency says on how many cores super kernels run, and
 * so whether some of them have to wait as wholes, or are cut. Whether launches hang, their entries
 * say. */
static enum pipeline_status print_account(const struct check *check, struct input *input,
                                          struct session *session)
{
    bool kept = input->diags.remarks, bind = check->lower || check->launches || check->estimate;
    input->diags.remarks = true;
    enum pipeline_status status =
        session_lower_part(session, 0, bind ? PASS_limit_residency : PASS_bind_kernels);
    bool counted = status == PIPELINE_OK && module_properties(input->module) & PROPERTY_BOUND;
    if (counted)
        status = session_lower_part(session, PASS_limit_residency, PASS_limit_residency + 1);
    input->diags.remarks = kept;
    /* With --remarks, they are printed with their source lines or written to a file at the end. */
    if (check->explain && !kept)
        print_explanation(input);
    if (check->estimate && counted)
        print_estimates(input);
    if (status == PIPELINE_OK && check->lower)
        status = session_lower_part(session, PASS_limit_residency + 1, PASS_COUNT);
    if (check->launches && counted)
        print_launches(input);
    if (!kept)
        diags_drop(&input->diags, SEVERITY_REMARK);
    if (status == PIPELINE_OK && check->lower && check->explain)
        check_gears_print(input->invocation->out, input->module);
    return status;
}

/* What `compile` does up to where it calls a tool. */
static enum exit_status check_module(const struct check *check, struct input *input)
{
    struct session_options options = {.target = check->target};
    struct session session;
    enum exit_status status = EXIT_INPUT;
    session_options_find(input, &check->plugins, &options);
    session_open(&session, input->module, &input->diags, &options);
    if (session_target_accepts(&session))
        status = pipeline_exit_status(check->explain || check->launches || check->estimate
                                          ? print_account(check, input, &session)
                                      : check->lower ? session_lower(&session)
                                                     : PIPELINE_OK);
    if (status == EXIT_DONE && check->lower)
        status = backend_exit_status(session_check_target(&session));
    session_close(&session);
    return status;
}

enum exit_status cmd_check(struct invocation *invocation)
{
    struct check check = {.target = target_option(invocation),
                          .explain = option_given(invocation, "explain"),
                          .launches = option_given(invocation, "launches"),
                          .estimate = option_given(invocation, "estimate"),
                          .lower = !option_given(invocation, "no-lower")};
    if (!check.target)
        return EXIT_USAGE;
    enum exit_status status = pass_plugins_open(&check.plugins, invocation);
    bool opened = status == EXIT_DONE;
    for (unsigned i = 0; opened && i < invocation->n_files; i++) {
        struct input input;
        enum exit_status one = EXIT_INPUT;
        if (input_open_verified(&input, invocation, invocation->files[i]) &&
            (one = given_shapes_bind(&input)) == EXIT_DONE)
            one = check_module(&check, &input);
        status = worse_status(status, input_close(&input, one));
    }
    pass_plugins_close(&check.plugins);
    return status;
}
