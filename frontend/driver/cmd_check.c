/* skirc check: what is wrong with a file, and what would be fused. With --explain, --estimate and
 * --launches it prints an account of what the passes decide. */
#include "frontend/driver/module_io.h"
#include "frontend/driver/pass_plugins.h"
#include "frontend/driver/shared_options.h"
#include "frontend/driver/check_gears.h"
#include "frontend/driver/cmd.h"
#include "frontend/driver/graph_arguments.h"
#include "frontend/driver/lowered_input.h"
#include "ir/core/arch.h"
#include "ir/support/text.h"
#include "ir/analysis/estimate.h"
#include "ir/core/kernels.h"
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

/* Times of one graph. */
struct estimate_account {
    FILE *out;
    const struct module *module;
    const struct graph *graph;
    const struct members *members;
    struct graph_estimate times;
};

static const char *const estimate_sources[] = {[ESTIMATE_UNKNOWN] = "unknown",
                                               [ESTIMATE_TIME] = "its time",
                                               [ESTIMATE_FLOPS] = "flops",
                                               [ESTIMATE_BYTES] = "bytes"};

static void print_op(const struct estimate_account *account, uint32_t id)
{
    const struct op *op = &account->graph->ops.at[id];
    const struct kernel *kernel = module_kernel(account->module, op->kernel);
    const struct op_estimate *time = &account->times.ops[id];
    struct arena scratch = {NULL, 0};
    if (time->by == ESTIMATE_UNKNOWN)
        fprintf(account->out, "      %10s     ", "?");
    else
        fprintf(account->out, "      %10.3f us  ", time->us);
    fprintf(account->out, "%-8s  %-11s  %s\n", estimate_sources[time->by],
            kernel_type_info(kernel->type)->name,
            op_text(account->module, account->graph, op, &scratch));
    arena_free(&scratch);
}

static void print_superkernel(const struct estimate_account *account, uint32_t id)
{
    const struct block *block = &account->graph->blocks.at[id];
    fprintf(account->out, "    '@%.*s': %.3f us; each op launched by itself: %.3f us\n",
            NAME(account->module, block->name), account->times.blocks[id],
            account->times.alone[id]);
    for (uint32_t i = account->members->first[id]; i < account->members->first[id + 1]; i++)
        print_op(account, account->members->ops[i]);
}

static void print_sums(const struct estimate_account *account)
{
    const struct graph_estimate *times = &account->times;
    fprintf(account->out, "    launches one behind the other: %.3f us; each op by itself: %.3f us",
            times->fused, times->unfused);
    if (times->unfused > times->fused)
        fprintf(account->out, "; fusing saves at most %.3f us", times->unfused - times->fused);
    fputc('\n', account->out);
    if (times->unknown)
        fprintf(account->out, "    %u op%s whose time is not known count%s as none\n",
                times->unknown, times->unknown == 1 ? "" : "s", times->unknown == 1 ? "s" : "");
}

static void print_graph_estimate(struct estimate_account *account, struct analyses *analyses)
{
    account->members = analyses_members(analyses, account->module, account->graph);
    graph_estimate_init(&account->times, analyses, account->module, account->graph);
    fprintf(account->out, "  '@%.*s':\n", NAME(account->module, account->graph->name));
    for (uint32_t i = 0; i < account->graph->blocks.count; i++)
        if (account->graph->blocks.at[i].kind == BLOCK_SUPERKERNEL)
            print_superkernel(account, i);
    /* Ops outside of super kernels, each a launch. */
    bool first = true;
    for (uint32_t i = 0; i < account->graph->ops.count; i++) {
        const struct op *op = &account->graph->ops.at[i];
        if (op->kernel == NONE || graph_superkernel(account->graph, op->block) != NONE)
            continue;
        if (first)
            fprintf(account->out, "    launched by themselves, each %.3f us more:\n",
                    estimate_launch(account->module));
        first = false;
        print_op(account, i);
    }
    print_sums(account);
    graph_estimate_free(&account->times);
}

/* Prints the account of each graph of a module that limit-residency has seen. */
static void check_estimate_print(struct input *input)
{
    struct estimate_account account = {.out = input->invocation->out, .module = input->module};
    struct analyses analyses = {NULL, 0, 0, NULL};
    diag_put(account.out, input->diags.path, strlen(input->diags.path));
    fputs(":\n", account.out);
    enum arch arch = module_arch(input->module);
    const struct arch_rates *rates = arch_rates(arch);
    if (rates)
        fprintf(account.out,
                "  estimate (roofline of %s, no contention; nothing is measured): %u MHz, a launch "
                "%.3f us; barriers and what kernels need to begin are not counted\n",
                arch_name(arch), rates->mhz, estimate_launch(input->module));
    else
        fprintf(account.out,
                "  nothing is known of the rates of %s: only kernels with 'time' count\n",
                arch_name(arch));
    for (uint32_t i = 0; i < input->module->graphs.count; i++) {
        account.graph = &input->module->graphs.at[i];
        if (account.graph->cases.count == 0) /* others are launched for it */
            print_graph_estimate(&account, &analyses);
    }
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

/* ---------------------------------------------------------------------------- texts ---- */

static void add_line_number(struct text *text, struct source *source, struct span span)
{
    if (span.end && source)
        text_printf(text, "line %u: ", source_position(source, span.begin).line);
}

static void add_origin(struct text *text, struct diag_origin origin)
{
    if (origin.text)
        text_printf(text, "%.*s: ", (int)origin.size, origin.text);
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
    add_origin(text, diag->origin);
    add_line_number(text, source, diag->span);
    const struct gear_place *place = add_text(text, names, diag->text);
    text_printf(text, " [%s]\n", diag_id_text(diag->id));
    for (const struct diag_note *note = diag->notes; note; note = note->next) {
        text_string(text, note->span.end ? "    " : "    -> ");
        add_origin(text, note->origin);
        add_line_number(text, source, note->span);
        add_text(text, names, note->text);
        text_char(text, '\n');
    }
    return place;
}

/* ------------------------------------------------------------------- combinations ---- */

static bool is_told(const struct told *told, const struct text *text,
                    const struct gear_place *place)
{
    return told->text.size == text->size && memcmp(told->text.at, text->at, text->size) == 0 &&
           !told->place == !place && (!place || told->place->graph == place->graph);
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
    while (i < explainer->told.count && !is_told(&explainer->told.at[i], &text, place))
        i++;
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

/* --------------------------------------------------------------------------- the file ---- */

static void explain(struct explainer *explainer, const struct diags *diags,
                    const struct diag *const *order)
{
    bool gears = module_has_cases(explainer->names.module);
    const struct diag *last = NULL;
    for (uint32_t i = 0; i < diags->list.count; i++) {
        const struct diag *diag = order[i];
        if (diag->severity != SEVERITY_REMARK)
            continue;
        if (!gears || !last || last->span.begin != diag->span.begin)
            print_told(explainer);
        tell(explainer, diag);
        last = diag;
    }
    print_told(explainer);
    bool marked = diags_have(diags, DIAG_nothing_to_fuse) || diags_have(diags, DIAG_scope_bypassed);
    if (!last && (marked || diags_have(diags, DIAG_scope_broken)))
        fputs("  nothing is fused\n", explainer->out);
    else if (!last)
        fputs("  nothing is marked to be fused: no op is in a scope\n", explainer->out);
}

/* What tests expect does not depend on the folder. */
static const char *shown_path(const struct input *input)
{
    const char *name = strrchr(input->diags.path, '/');
    return is_steady(input->invocation) && name ? name + 1 : input->diags.path;
}

/* Prints the remarks, without source lines; those that are the same for several combinations of
 * gears once. */
static void check_explain_print(struct input *input)
{
    struct diags *diags = &input->diags;
    struct explainer explainer = {.out = input->invocation->out, .source = diags->source};
    origins_mark(input->module, diags);
    const struct diag **order = diags_sorted(diags);
    const char *path = shown_path(input);
    diag_put(explainer.out, path, strlen(path));
    fputs(":\n", explainer.out);
    gear_names_init(&explainer.names, input->module);
    explain(&explainer, diags, order);
    gear_names_free(&explainer.names);
    vec_free(&explainer.told);
    mem_free(order);
}

/* ----------------------------------------------------------------------- launches ---- */

struct launch_account {
    FILE *out;
    struct input *input;
    const struct module *module;
    struct analyses analyses;
    struct called_launches called;
};

static void print_line(struct launch_account *account, const char *indent, struct text *line)
{
    fprintf(account->out, "%s%.*s\n", indent, (int)line->size, line->at);
    line->size = 0;
}

static void print_lines(struct launch_account *account, struct launch_lines *lines)
{
    for (uint32_t i = 0; i < lines->count; i++)
        fprintf(account->out, "      %s%s\n", lines->at[i].row == NONE ? "it came so: " : "",
                lines->at[i].text);
    launch_lines_free(lines);
}

static void print_states(struct launch_account *account, const struct graph_launches *launches,
                         struct queue *queue)
{
    struct search search;
    struct launch_lines lines = {NULL, 0, 0};
    search_init(&search, queue, SEARCH_STATES, SEARCH_WORK);
    enum verdict verdict = search_run(&search);
    unsigned long long tried = search.tried;
    const char *plural = tried == 1 ? "" : "s";
    if (verdict == SEARCH_SAFE)
        fprintf(account->out, "    nothing hangs (%llu state%s tried)\n", tried, plural);
    if (verdict == SEARCH_UNKNOWN)
        fprintf(account->out, "    not known: %llu state%s tried, and there are more\n", tried,
                plural);
    if (verdict == SEARCH_HANGS) {
        fprintf(account->out, "    can hang (%llu state%s tried):\n", tried, plural);
        describe_state(&lines, launches, &search);
    }
    print_lines(account, &lines);
    search_free(&search);
}

static void print_graph_launches(struct launch_account *account, const struct graph *graph)
{
    struct graph_launches launches;
    struct text line = {NULL, 0, 0};
    graph_launches_init(&launches, &account->analyses, &account->called, account->module, graph);
    const struct launch_table *table = &launches.table;
    text_printf(&line, "'@%.*s': %u launch%s on %u stream%s, with %u AICs and %u AIVs",
                NAME(account->module, graph->name), table->rows.count,
                table->rows.count == 1 ? "" : "es", table->n_streams,
                table->n_streams == 1 ? "" : "s", table->device.aics, table->device.aivs);
    print_line(account, "  ", &line);
    for (uint32_t i = 0; i < table->rows.count; i++) {
        describe_row(&line, &launches, i);
        print_line(account, "    ", &line);
    }
    struct queue queue;
    queue_init(&queue, &launches.table);
    uint32_t *positions = mem_calloc(queue.n_lanes, sizeof *positions);
    if (queue_has_cycle(&queue, positions)) {
        struct launch_lines lines = {NULL, 0, 0};
        fputs("    hangs, whatever cores there are:\n", account->out);
        describe_cycle(&lines, &launches, &queue, positions);
        print_lines(account, &lines);
    } else {
        print_states(account, &launches, &queue);
    }
    mem_free(positions);
    queue_free(&queue);
    text_free(&line);
    graph_launches_free(&launches);
}

/* Remarks about what was changed. */
static void print_changes(struct launch_account *account)
{
    const struct diags *diags = &account->input->diags;
    for (uint32_t i = 0; i < diags->list.count; i++) {
        const struct diag *diag = &diags->list.at[i];
        if (diag->id == DIAG_launch_waits || diag->id == DIAG_launch_cut) {
            fputs("  changed: ", account->out);
            if (diag->span.end && diags->source)
                fprintf(account->out,
                        "line %u: ", source_position(diags->source, diag->span.begin).line);
            fprintf(account->out, "%s\n", diag->text);
        }
    }
}

/* One file, and what is asked about it. */
struct check {
    struct input input;
    struct session session;
    const struct backend *target;
    const struct pass_plugins *plugins;
    bool explain, launches, estimate, lower;
};

/* ------------------------------------------------------------------------ accounts ---- */

/* The passes that decide what is fused and what launches are. Where all ops have kernels, these say
 * on how many cores super kernels run, and so whether some of them have to wait as wholes, or are
 * cut. `counted`: launches are known. */
static enum pipeline_status decide(struct check *check, bool *counted)
{
    bool bind = check->lower || check->launches || check->estimate;
    enum pipeline_status status =
        session_lower_part(&check->session, 0, bind ? PASS_limit_residency : PASS_bind_kernels);
    *counted = status == PIPELINE_OK && module_properties(check->input.module) & PROPERTY_BOUND;
    return *counted
               ? session_lower_part(&check->session, PASS_limit_residency, PASS_limit_residency + 1)
               : status;
}

/* The pipeline, with the accounts of what it decides. Whether launches hang, their entries say. */
static enum pipeline_status print_account(struct check *check)
{
    struct input *input = &check->input;
    bool kept = input->diags.remarks, counted;
    input->diags.remarks = true;
    enum pipeline_status status = decide(check, &counted);
    input->diags.remarks = kept;
    /* With --remarks, they are printed with their source lines or written to a file at the end. */
    if (check->explain && !kept)
        check_explain_print(input);
    if (check->estimate && counted)
        check_estimate_print(input);
    if (status == PIPELINE_OK && check->lower)
        status = session_lower_part(&check->session, PASS_limit_residency + 1, PASS_COUNT);
    if (check->launches && counted) {
        struct launch_account account = {
            .out = input->invocation->out, .input = input, .module = input->module};
        fprintf(account.out, "%s:\n", input->diags.path);
        print_changes(&account);
        called_launches_init(&account.called, input->module);
        for (uint32_t i = 0; i < input->module->graphs.count; i++)
            if (input->module->graphs.at[i].cases.count == 0) /* others launch for it */
                print_graph_launches(&account, &input->module->graphs.at[i]);
        called_launches_free(&account.called);
        analyses_drop(&account.analyses);
    }
    if (!kept)
        diags_drop(&input->diags, SEVERITY_REMARK);
    if (status == PIPELINE_OK && check->lower && check->explain)
        check_gears_print(input->invocation->out, input->module);
    return status;
}

/* ---------------------------------------------------------------------------- files ---- */

static enum pipeline_status lower(struct check *check)
{
    if (check->explain || check->launches || check->estimate)
        return print_account(check);
    return check->lower ? session_lower(&check->session) : PIPELINE_OK;
}

/* What `compile` does up to where it calls a tool. */
static enum exit_status check_module(struct check *check)
{
    struct input *input = &check->input;
    struct session_options options = {.target = check->target};
    session_options_find(input, check->plugins, &options);
    session_open(&check->session, input->module, &input->diags, &options);
    enum exit_status status = EXIT_INPUT;
    if (session_target_accepts(&check->session))
        status = pipeline_exit_status(lower(check));
    if (status == EXIT_DONE && check->lower)
        status = backend_exit_status(session_check_target(&check->session));
    session_close(&check->session);
    return status;
}

static enum exit_status check_file(struct invocation *invocation, const struct backend *target,
                                   const struct pass_plugins *plugins, const char *path)
{
    struct check check = {.target = target,
                          .plugins = plugins,
                          .explain = option_given(invocation, "explain"),
                          .launches = option_given(invocation, "launches"),
                          .estimate = option_given(invocation, "estimate"),
                          .lower = !option_given(invocation, "no-lower")};
    enum exit_status status = EXIT_INPUT;
    if (input_open_verified(&check.input, invocation, path) &&
        (status = given_shapes_bind(&check.input)) == EXIT_DONE)
        status = check_module(&check);
    return input_close(&check.input, status);
}

static enum exit_status check_all(struct invocation *invocation, const struct backend *target,
                                  const struct pass_plugins *plugins)
{
    enum exit_status status = EXIT_DONE;
    for (unsigned i = 0; i < invocation->n_files; i++)
        status =
            worse_status(status, check_file(invocation, target, plugins, invocation->files[i]));
    return status;
}

enum exit_status cmd_check(struct invocation *invocation)
{
    struct pass_plugins plugins;
    const struct backend *target = target_option(invocation);
    if (!target)
        return EXIT_USAGE;
    enum exit_status status = pass_plugins_open(&plugins, invocation);
    if (status == EXIT_DONE)
        status = check_all(invocation, target, &plugins);
    pass_plugins_close(&plugins);
    return status;
}
